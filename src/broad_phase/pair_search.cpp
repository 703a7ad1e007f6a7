#include "broad_phase/pair_search.hpp"

#include "base/parallel.hpp"
#include "broad_phase/outside_pairs.hpp"
#include "broad_phase/pair_parts.hpp"
#include "cells/validate.hpp"

#include <algorithm>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t parallel_above = 16384;    // objects
constexpr std::size_t least_job = 4096;          // objects
constexpr std::size_t least_resting_job = 1024;  // objects that do not rest
constexpr std::size_t jobs_at_least = 64;        // of a large set: enough for the threads of any machine to share
constexpr std::size_t pieces_in_turn = 64;       // of a grid, where one thread takes them all
constexpr std::size_t largest_piece = 1 << 18;   // objects of a piece where threads share a grid

}  // namespace

// Takes false pairs out of a buffer that holds more than the limit. If the true ones alone are more, they are counted
// and dropped, so that the error can name the size.
template <int D, class T>
class PairSearch<D, T>::Within {
  public:
    Within(const PairSearch& search, std::size_t& dropped) : search_(search), dropped_(dropped) {}

    /// From now on no false pairs are added.
    void all_true() { all_true_ = true; }
    std::size_t operator()(std::span<Pair> pairs) const {
        QUADRAT_ASSERT(true_ <= pairs.size());
        // Pairs that stayed before are still at the front.
        if (!all_true_) pairs = pairs.first(true_ + search_.true_pairs(pairs.subspan(true_)));
        if (pairs.size() <= search_.limit() && dropped_ == 0) return true_ = pairs.size();
        dropped_ += pairs.size();
        return true_ = 0;
    }

  private:
    const PairSearch& search_;
    std::size_t& dropped_;
    mutable std::size_t true_ = 0;
    bool all_true_ = false;
};

// Those with what rests come last: their pairs are looked at before they are added.
template <int D, class T>
auto PairSearch<D, T>::jobs(std::size_t fine_pieces) const -> std::vector<Job> {
    std::vector<Job> all;
    for (const auto& job : h_.sorted.jobs({std::max(least_job, h_.sorted.size() / jobs_at_least), fine_pieces}))
        all.push_back({job, false});
    if (h_.sorted.size() == 0 || h_.resting.size() == 0) return all;
    const std::size_t objects = std::max(least_resting_job, h_.sorted.size() / jobs_at_least);
    for (const auto& job : Grids::jobs_between(h_.sorted, h_.resting, objects)) all.push_back({job, true});
    return all;
}

template <int D, class T>
void PairSearch<D, T>::run(const Job& job, typename Grids::Window& window, Within& within, PairBuffer& out) const {
    if (job.with_resting) {
        within.all_true();
        return run_with_resting(job, out);
    }
    const std::size_t before = out.size(), spills = out.spills();
    h_.tests += h_.sorted.run(job, window, out);
    const std::size_t from = out.spills() == spills ? before : 0;
    out.set_end(out.data() + from + true_pairs({out.data() + from, out.size() - from}));
}

template <int D, class T>
void PairSearch<D, T>::run_with_resting(const Job& job, PairBuffer& out) const {
    std::vector<Pair> block;
    // What is sorted is awake, and the kernels have looked at the filters: no look at the slots is needed.
    const bool all = h_.sleepers_in_sorted == 0 && !h_.slots.round();
    const auto add = [&](std::span<const Pair> pairs) {
        Pair* end = out.reserve(pairs.size());
        for (const Pair& p : pairs)
            if (all || h_.slots.are_pair(h_.slots, p.first, h_.slots, p.second))
                *end++ = {std::min(p.first, p.second), std::max(p.first, p.second)};
        out.set_end(end);
        out.settle();
    };
    h_.tests += pairs_of_job(
        h_.sorted, h_.resting, job, block, [&](std::uint32_t slot) { return h_.counts(slot); },
        [&](std::uint32_t slot) { return h_.counts_resting(slot); }, add);
}

template <int D, class T>
void PairSearch<D, T>::visit_job(const Job& job, typename Grids::Window& window, std::vector<Pair>& block, Visit visit,
                                 void* context) const {
    in_blocks(
        block,
        [&](PairBuffer& buffer) {
            if (job.with_resting)
                run_with_resting(job, buffer);
            else
                h_.tests += h_.sorted.run(job, window, buffer);
        },
        [&](std::span<Pair> pairs) {
            const std::size_t count = job.with_resting ? pairs.size() : true_pairs(pairs);
            if (count != 0) visit(context, pairs.first(count));
        });
}

// Removes pairs of records that were edited since they were sorted, of objects that were put to rest since, and of
// spheres that do not meet. Returns how many are left.
template <int D, class T>
std::size_t PairSearch<D, T>::true_pairs(std::span<Pair> pairs) const {
    const auto& slots = h_.slots;
    if (h_.stale + h_.sleepers_in_sorted == 0 && !slots.round()) return pairs.size();
    const auto wrong = [&](const Pair& p) {
        if (!h_.counts(p.first) || !h_.counts(p.second)) return true;
        if (slots.asleep(p.first) && slots.asleep(p.second)) return true;
        return slots.round() && !spheres_overlap(slots.sphere(p.first), slots.sphere(p.second));
    };
    return static_cast<std::size_t>(std::remove_if(pairs.begin(), pairs.end(), wrong) - pairs.begin());
}

template <int D, class T>
void PairSearch<D, T>::check_size(std::size_t total, std::vector<Pair>& out) const {
    if (total <= limit()) return;
    out.clear();
    cells::throw_too_large(total, h_.options.max_bytes);
}

template <int D, class T>
unsigned PairSearch<D, T>::threads() const {
    return h_.sorted.size() + h_.resting.size() < parallel_above ? 1 : base::thread_count(h_.options.executor);
}

template <int D, class T>
void PairSearch<D, T>::find(std::vector<Pair>& out) const {
    if (threads() == 1)
        find_in_turn(out);
    else
        find_in_parallel(out, threads());
}

template <int D, class T>
void PairSearch<D, T>::visit_in_order(Visit visit, void* context) const {
    if (threads() == 1) return visit_in_turn(visit, context);
    std::vector<Pair> pairs;
    find_in_parallel(pairs, threads());
    visit(context, pairs);
}

// What find(buffer, within) writes, and then the pairs outside the sorted grids. dropped: pairs before them that were
// too many.
template <int D, class T>
template <class Find>
void PairSearch<D, T>::append(std::vector<Pair>& out, std::size_t keep, std::size_t dropped, Find&& find) const {
    try {
        Within within(*this, dropped);
        PairBuffer buffer(out, keep, spill_to(limit(), within));
        find(buffer, within);
        within.all_true();
        OutsidePairs<D, T>(h_).append(buffer);
    } catch (...) {
        out.clear();
        throw;
    }
    check_size(out.size() + dropped, out);
}

template <int D, class T>
void PairSearch<D, T>::find_in_turn(std::vector<Pair>& out) const {
    append(out, 0, 0, [&](PairBuffer& buffer, Within& within) {
        const auto all = jobs(pieces_in_turn);
        typename Grids::Window window(h_.sorted);
        std::size_t done = 0;
        for (const auto& job : all) {
            run(job, window, within, buffer);
            base::check_in(h_.options.watch, ++done, all.size());
            // As if the rest were like the first eighth; a wrong guess costs a copy, or room that is never touched.
            if (done == all.size() / 8)
                buffer.expect(std::min({buffer.size() / done * all.size() * 17 / 16, 8 * h_.sorted.size(), limit()}));
        }
    });
}

template <int D, class T>
void PairSearch<D, T>::find_in_parallel(std::vector<Pair>& out, unsigned threads) const {
    // The slabs that a piece shares with the next one are sorted twice. Pieces of a large set are short enough for a
    // stop to be noticed soon.
    const auto all = jobs(std::max(std::size_t{3} * threads, h_.sorted.size() / largest_piece));
    const PartScratch<D, T> scratch(h_, all.size());
    const std::size_t inside = collect({h_.options.executor, h_.options.watch, h_.options.max_bytes}, all.size(), out,
                                       scratch.parts(), [&](std::size_t k, std::vector<Pair>& part) {
                                           std::size_t dropped = 0;
                                           Within within(*this, dropped);
                                           PairBuffer buffer(part, 0, spill_to(limit(), within));
                                           typename Grids::Window window(h_.sorted);
                                           run(all[k], window, within, buffer);
                                           return buffer.size() + dropped;
                                       });
    append(out, out.size(), inside > limit() ? inside : 0, [](PairBuffer&, Within&) {});
}

template <int D, class T>
void PairSearch<D, T>::visit_outside(std::vector<Pair>& block, Visit visit, void* context) const {
    in_blocks(
        block, [&](PairBuffer& buffer) { OutsidePairs<D, T>(h_).append(buffer); },
        [&](std::span<Pair> pairs) { visit(context, pairs); });
}

template <int D, class T>
void PairSearch<D, T>::visit_in_turn(Visit visit, void* context) const {
    std::vector<Pair> block;
    typename Grids::Window window(h_.sorted);
    const auto all = jobs(pieces_in_turn);
    std::size_t done = 0;
    for (const auto& job : all) {
        visit_job(job, window, block, visit, context);
        base::check_in(h_.options.watch, ++done, all.size());
    }
    visit_outside(block, visit, context);
}

template <int D, class T>
void PairSearch<D, T>::visit_chunks(Visit visit, void* context) const {
    const auto all = jobs(pieces_in_turn);
    base::TaskProgress progress(h_.options.watch, all.size());
    base::run_tasks(h_.options.executor, all.size(), [&](std::size_t k) {
        std::vector<Pair> block;
        {
            typename Grids::Window window(h_.sorted);
            visit_job(all[k], window, block, visit, context);
        }
        progress.done_one();
    });
    progress.finish();
    std::vector<Pair> block;
    visit_outside(block, visit, context);
}

template class PairSearch<2, float>;
template class PairSearch<3, float>;
template class PairSearch<2, double>;
template class PairSearch<3, double>;

}  // namespace quadrat::broad_phase
