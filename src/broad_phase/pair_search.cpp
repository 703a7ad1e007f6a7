#include "broad_phase/pair_search.hpp"

#include "base/parallel.hpp"
#include "broad_phase/outside_pairs.hpp"
#include "cells/validate.hpp"

#include <algorithm>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t parallel_above = 16384;  // objects
constexpr std::size_t least_job = 4096;        // objects
constexpr std::size_t jobs_at_least = 64;      // of a large set: enough for the threads of any machine to share
constexpr std::size_t pieces_in_turn = 64;     // of a grid, where one thread takes them all

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

template <int D, class T>
auto PairSearch<D, T>::jobs(std::size_t fine_pieces) const -> std::vector<typename Grids::Job> {
    return h_.sorted.jobs({std::max(least_job, h_.sorted.size() / jobs_at_least), fine_pieces});
}

template <int D, class T>
void PairSearch<D, T>::run(const typename Grids::Job& job, typename Grids::Window& window, PairBuffer& out) const {
    const std::size_t before = out.size(), spills = out.spills();
    h_.tests += h_.sorted.run(job, window, out);
    const std::size_t from = out.spills() == spills ? before : 0;
    out.set_end(out.data() + from + true_pairs({out.data() + from, out.size() - from}));
}

// Removes pairs of records that were edited since they were sorted, pairs whose filters have changed since, and pairs
// of spheres that do not meet. Returns how many are left.
template <int D, class T>
std::size_t PairSearch<D, T>::true_pairs(std::span<Pair> pairs) const {
    const auto& slots = h_.slots;
    const bool filter = slots.filters().stored() && !h_.sorted.filtered();
    if (h_.stale == 0 && !slots.round() && !filter) return pairs.size();
    const auto wrong = [&](const Pair& p) {
        if (!h_.counts(p.first) || !h_.counts(p.second)) return true;
        if (filter && !slots.may_meet(slots, p.first, slots, p.second)) return true;
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
void PairSearch<D, T>::find(std::vector<Pair>& out) const {
    const unsigned threads = h_.sorted.size() < parallel_above ? 1 : base::thread_count(h_.options.executor);
    if (threads == 1)
        find_in_turn(out);
    else
        find_in_parallel(out, threads);
}

template <int D, class T>
void PairSearch<D, T>::find_in_turn(std::vector<Pair>& out) const {
    std::size_t dropped = 0, done = 0;
    try {
        Within within(*this, dropped);
        PairBuffer buffer(out, 0, spill_to(limit(), within));
        const auto all = jobs(pieces_in_turn);
        typename Grids::Window window(h_.sorted);
        for (const auto& job : all) {
            run(job, window, buffer);
            base::check_in(h_.options.watch, ++done, all.size());
            // As if the rest were like the first eighth; a wrong guess costs a copy, or room that is never touched.
            if (done == all.size() / 8)
                buffer.expect(std::min({buffer.size() / done * all.size() * 17 / 16, 8 * h_.sorted.size(), limit()}));
        }
        within.all_true();
        OutsidePairs<D, T>(h_).append(buffer);
    } catch (...) {
        out.clear();
        throw;
    }
    check_size(out.size() + dropped, out);
}

template <int D, class T>
void PairSearch<D, T>::find_in_parallel(std::vector<Pair>& out, unsigned threads) const {
    out.clear();
    // The slabs that a piece shares with the next one are sorted twice.
    const auto all = jobs(std::size_t{3} * threads);
    std::unique_lock lock(h_.scratch_mutex, std::try_to_lock);
    std::vector<std::vector<Pair>> own;
    std::vector<std::vector<Pair>>& parts = lock.owns_lock() ? h_.scratch : own;
    if (parts.size() < all.size()) parts.resize(all.size());
    std::atomic<std::size_t> total{0};
    std::size_t done = 0;
    std::mutex report;
    std::vector<std::size_t> counts(all.size(), 0);
    base::run_tasks(h_.options.executor, all.size(), [&](std::size_t k) {
        std::size_t dropped = 0;
        {
            const Within within(*this, dropped);
            PairBuffer buffer(parts[k], 0, spill_to(limit(), within));
            typename Grids::Window window(h_.sorted);
            run(all[k], window, buffer);
        }
        counts[k] = parts[k].size() + dropped;
        if ((total += counts[k]) > limit()) std::vector<Pair>().swap(parts[k]);
        const std::lock_guard one(report);
        base::check_in(h_.options.watch, ++done, all.size());
    });
    check_size(total, out);
    std::vector<std::size_t> begin(all.size() + 1, 0);
    for (std::size_t k = 0; k < all.size(); ++k) begin[k + 1] = begin[k] + counts[k];
    out.resize(begin.back());
    base::run_tasks(h_.options.executor, all.size(), [&](std::size_t k) {
        if (counts[k] != 0) std::copy_n(parts[k].data(), counts[k], out.data() + begin[k]);
    });
    append_outside(out);
}

template <int D, class T>
void PairSearch<D, T>::append_outside(std::vector<Pair>& out) const {
    std::size_t dropped = 0;
    try {
        Within within(*this, dropped);
        within.all_true();
        PairBuffer buffer(out, out.size(), spill_to(limit(), within));
        OutsidePairs<D, T>(h_).append(buffer);
    } catch (...) {
        out.clear();
        throw;
    }
    check_size(out.size() + dropped, out);
}

template <int D, class T>
void PairSearch<D, T>::visit_in_turn(Visit visit, void* context) const {
    std::vector<Pair> block;
    typename Grids::Window window(h_.sorted);
    const auto all = jobs(pieces_in_turn);
    std::size_t done = 0;
    for (const auto& job : all) {
        in_blocks(
            block, [&](PairBuffer& buffer) { h_.tests += h_.sorted.run(job, window, buffer); },
            [&](std::span<Pair> pairs) { visit(context, pairs.first(true_pairs(pairs))); });
        base::check_in(h_.options.watch, ++done, all.size());
    }
    in_blocks(
        block, [&](PairBuffer& buffer) { OutsidePairs<D, T>(h_).append(buffer); },
        [&](std::span<Pair> pairs) { visit(context, pairs); });
}

template <int D, class T>
void PairSearch<D, T>::visit_chunks(Visit visit, void* context) const {
    const auto all = jobs(pieces_in_turn);
    std::mutex report;
    std::size_t done = 0;
    base::run_tasks(h_.options.executor, all.size(), [&](std::size_t k) {
        std::vector<Pair> block;
        {
            typename Grids::Window window(h_.sorted);
            in_blocks(
                block, [&](PairBuffer& buffer) { h_.tests += h_.sorted.run(all[k], window, buffer); },
                [&](std::span<Pair> pairs) {
                    const std::size_t count = true_pairs(pairs);
                    if (count != 0) visit(context, pairs.first(count));
                });
        }
        const std::lock_guard one(report);
        base::check_in(h_.options.watch, ++done, all.size());
    });
    std::vector<Pair> block;
    in_blocks(
        block, [&](PairBuffer& buffer) { OutsidePairs<D, T>(h_).append(buffer); },
        [&](std::span<Pair> pairs) { visit(context, pairs); });
}

template class PairSearch<2, float>;
template class PairSearch<3, float>;
template class PairSearch<2, double>;
template class PairSearch<3, double>;

}  // namespace quadrat::broad_phase
