// The detection step of a HashGridHierarchy (HHG 3.6, Algorithm 4): pairs inside each sorted grid, of each grid with
// the grids of larger boxes, and of what is kept elsewhere.
#include "broad_phase/hash_grid_impl.hpp"

#include "broad_phase/fine_kernel.hpp"

#include "base/parallel.hpp"
#include "cells/bounded_pairs.hpp"
#include "cells/predicate.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace quadrat {
namespace {

constexpr std::size_t parallel_above = 16384;
constexpr std::size_t least_job = 4096;  // objects
constexpr std::size_t jobs_at_least = 64;
constexpr std::size_t pieces_in_turn = 64;  // of a grid, where one task takes them all
constexpr std::size_t sorted_loose_from = 256;
constexpr std::size_t block = 1 << 16;  // pairs that are held before they are handed on

template <int D, class T>
bool spheres_overlap(const Sphere<D, T>& a, const Sphere<D, T>& b) {
    const T reach = a.radius + b.radius;
    if (reach == 0) return a.center == b.center;
    if (reach < std::numeric_limits<T>::infinity()) return cells::NearTest<T>(reach)(a.center, b.center);
    const auto halved = [](const Sphere<D, T>& s) {
        Sphere<D, T> half{s.center, s.radius / 2};
        for (int k = 0; k < D; ++k) half.center[k] /= 2;
        return half;
    };
    return spheres_overlap(halved(a), halved(b));
}

}  // namespace

template <int D, class T>
bool HashGridHierarchy<D, T>::Impl::may_meet(std::uint32_t a, std::uint32_t b) const {
    return filters.empty() || ((filters[a][0] & filters[b][1]) != 0 && (filters[b][0] & filters[a][1]) != 0);
}

// The window that a task looks through, opened when a fine grid is first searched. A task that takes the pieces of a
// grid in their order sorts each slab once.
template <int D, class T>
class HashGridHierarchy<D, T>::Impl::Window {
  public:
    explicit Window(const Impl& s) : s_(s) {}
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window() {
        if (!window_) return;
        const std::lock_guard lock(s_.window_mutex);
        s_.windows.push_back(std::move(window_));
    }

    broad_phase::FineWindow<D, T>& on(std::size_t grid) {
        if (!window_) {
            const std::lock_guard lock(s_.window_mutex);
            if (s_.windows.empty()) {
                s_.windows.reserve(++s_.window_count);  // room to give it back
                window_ = std::make_unique<broad_phase::FineWindow<D, T>>();
            } else {
                window_ = std::move(s_.windows.back());
                s_.windows.pop_back();
            }
        }
        if (grid_ != grid) {
            const Grid& g = s_.grids[grid];
            window_->open(g.shape, s_.partition, g.first_slab, g.size);
            grid_ = grid;
        }
        return *window_;
    }

  private:
    const Impl& s_;
    std::unique_ptr<broad_phase::FineWindow<D, T>> window_;
    std::size_t grid_ = SIZE_MAX;
};

template <int D, class T>
std::vector<typename HashGridHierarchy<D, T>::Impl::Job> HashGridHierarchy<D, T>::Impl::jobs(std::size_t pieces) const {
    const std::size_t objects_per_job = std::max(least_job, sorted / jobs_at_least);
    std::vector<Job> all;
    // Runs of lines, slabs or rows, of about so many objects; objects_to(i) are those before line i.
    const auto cut = [&](std::size_t grid, std::size_t lines, std::size_t objects, auto&& objects_to) {
        for (std::size_t line = 0; line < lines;) {
            const std::size_t enough = objects_to(line) + objects;
            std::size_t end = line + 1, step = 1;
            for (; end < lines && objects_to(end) < enough; step *= 2) end = std::min(lines, end + step);
            // Gone too far by at most half: go back to the first line that is enough.
            std::size_t low = line + 1, high = end;
            while (low < high) {
                const std::size_t middle = (low + high) / 2;
                if (objects_to(middle) < enough && middle < lines)
                    low = middle + 1;
                else
                    high = middle;
            }
            all.push_back({grid, grid, line, low});
            line = low;
        }
    };
    for (std::size_t g = 0; g < grids.size(); ++g) {
        const Grid& grid = grids[g];
        if (grid.fine) {
            std::vector<std::size_t> before(grid.shape.slabs + 1, 0);
            for (std::size_t s = 0; s < grid.shape.slabs; ++s)
                before[s + 1] = before[s] + partition.size(grid.first_slab + s);
            cut(g, grid.shape.slabs, std::max(least_job, grid.size / pieces), [&](std::size_t s) { return before[s]; });
        } else {
            const auto columns_of_grid = view(g);
            cut(g, grid.shape.rows, objects_per_job,
                [&](std::size_t r) { return columns_of_grid.start[r * grid.shape.bins()]; });
        }
        for (std::size_t h = g + 1; h < grids.size(); ++h) {
            if (!overlap(grid.shape.inside, grids[h].shape.inside)) continue;
            for (std::size_t b = 0; b < grid.size; b += objects_per_job)
                all.push_back({g, h, b, std::min(grid.size, b + objects_per_job)});
        }
    }
    return all;
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::run(const Job& job, Window& window, broad_phase::PairBuffer& out) const {
    const std::size_t before = out.size(), spills = out.spills();
    const auto begin = static_cast<std::uint32_t>(job.begin), end = static_cast<std::uint32_t>(job.end);
    if (job.home != job.grid)
        tests += broad_phase::pairs_between(view_for_pairs(job.home), job.begin, job.end, view_for_pairs(job.grid),
                                            true, out);
    else if (!grids[job.home].fine)
        tests += broad_phase::pairs_within(view_for_pairs(job.home), begin, end, out);
    else
        for (std::uint32_t slab = begin; slab < end; ++slab)
            tests += broad_phase::fine_pairs_of_slab(window.on(job.home), slab, out);
    const std::size_t from = out.spills() == spills ? before : 0;
    out.set_end(out.data() + from + true_pairs({out.data() + from, out.size() - from}));
}

// Removes pairs of records that were edited since they were sorted, pairs whose filters have changed since, and pairs
// of spheres that do not meet. Returns how many are left.
template <int D, class T>
std::size_t HashGridHierarchy<D, T>::Impl::true_pairs(std::span<Pair> pairs) const {
    const bool filter = !filters.empty() && !grids_filtered;
    if (stale == 0 && spheres.empty() && !filter) return pairs.size();
    const auto wrong = [&](const Pair& p) {
        if (stale != 0 && !(is_sorted(p.first) && is_sorted(p.second))) return true;
        if (filter && !may_meet(p.first, p.second)) return true;
        return !spheres.empty() && !spheres_overlap(spheres[p.first], spheres[p.second]);
    };
    return static_cast<std::size_t>(std::remove_if(pairs.begin(), pairs.end(), wrong) - pairs.begin());
}

// Pairs with at least one object outside the sorted grids.
template <int D, class T>
void HashGridHierarchy<D, T>::Impl::loose_pairs(broad_phase::PairBuffer& out) const {
    std::uint64_t made = 0;
    broad_phase::Found ids;
    const auto add = [&](std::uint32_t a, std::uint32_t b) {
        if (may_meet(a, b) && (spheres.empty() || spheres_overlap(spheres[a], spheres[b])))
            out.add({std::min(a, b), std::max(a, b)});
    };
    if (loose.size() >= sorted_loose_from && sorted != 0) {
        loose_pairs_by_sorting(out);
    } else if (loose.size() != 0) {
        loose.for_each_pair(made, add);
        loose.for_each([&](std::uint32_t slot) {
            made += for_each_sorted_overlap(loose.box(slot), ids,
                                            [&](std::uint32_t other, const BoxT&) { add(slot, other); });
        });
    }
    for (std::size_t i = 0; i < unbounded.size(); ++i) {
        const Unbounded& u = unbounded[i];
        if (!u.half_space) {
            made += for_each_sorted_overlap(u.box, ids, [&](std::uint32_t other, const BoxT&) { add(u.slot, other); });
            made += loose.for_each_overlap(u.box, [&](std::uint32_t other) { add(u.slot, other); });
        } else {
            for_each_sorted([&](std::uint32_t other, const BoxT& box) {
                ++made;
                if (reaches(u, box)) add(u.slot, other);
            });
            loose.for_each([&](std::uint32_t other) {
                ++made;
                if (reaches(u, loose.box(other))) add(u.slot, other);
            });
        }
        for (std::size_t j = i + 1; j < unbounded.size(); ++j, ++made)
            if (meet(u, unbounded[j])) add(u.slot, unbounded[j].slot);
    }
    tests += made;
}

// Many loose objects: a sorted set of their own, for this call, is cheaper than the lists of their cells.
template <int D, class T>
void HashGridHierarchy<D, T>::Impl::loose_pairs_by_sorting(broad_phase::PairBuffer& out) const {
    std::vector<BoxT> boxes;
    std::vector<std::uint32_t> slots;
    boxes.reserve(loose.size());
    slots.reserve(loose.size());
    loose.for_each([&](std::uint32_t slot) {
        boxes.push_back(loose.box(slot));
        slots.push_back(slot);
    });
    Impl own(options);
    own.load(boxes, {});
    const auto add = [&](std::uint32_t a, std::uint32_t b) {
        if (may_meet(a, b) && (spheres.empty() || spheres_overlap(spheres[a], spheres[b])))
            out.add({std::min(a, b), std::max(a, b)});
    };
    std::vector<Pair> found;
    Window window(own);
    const auto add_own = [&](std::span<const Pair> pairs) {
        for (const Pair& p : pairs) add(slots[p.first], slots[p.second]);
        return std::size_t{0};
    };
    for (const Job& job : own.jobs(pieces_in_turn)) {
        {
            broad_phase::PairBuffer buffer(found, 0, broad_phase::spill_to(block, add_own));
            own.run(job, window, buffer);
        }
        add_own(found);
    }
    std::uint64_t made = own.tests + pairs_of_grids(own, *this, [&](std::span<const Pair> pairs) {
                             for (const Pair& p : pairs) add(slots[p.first], p.second);
                         });
    // Those that fit no class of their own set.
    broad_phase::Found ids;
    own.loose.for_each_pair(made, [&](std::uint32_t a, std::uint32_t b) { add(slots[a], slots[b]); });
    own.loose.for_each([&](std::uint32_t i) {
        made +=
            own.for_each_sorted_overlap(boxes[i], ids, [&](std::uint32_t j, const BoxT&) { add(slots[i], slots[j]); });
        made += for_each_sorted_overlap(boxes[i], ids, [&](std::uint32_t other, const BoxT&) { add(slots[i], other); });
    });
    tests += made;
}

template <int D, class T>
template <class Take>
std::uint64_t HashGridHierarchy<D, T>::Impl::pairs_of_grids(const Impl& s, const Impl& t, Take&& take) {
    std::uint64_t tests = 0;
    std::vector<Pair> found;
    const auto wrong = [&](const Pair& p) { return !(s.is_sorted(p.first) && t.is_sorted(p.second)); };
    for (std::size_t g = 0; g < s.grids.size(); ++g)
        for (std::size_t h = 0; h < t.grids.size(); ++h) {
            base::check_stop(s.options.watch);
            const auto u = s.view_for_pairs(g), v = t.view_for_pairs(h);
            // The grid with more cells has the smaller boxes or the more of them: those look for the others, unless
            // they are far more.
            const bool forward = u.size < v.size / 8 || (u.shape.cells() >= v.shape.cells() && v.size >= u.size / 8);
            const auto hand_on = [&](std::span<Pair> pairs) {
                base::check_stop(s.options.watch);
                if (!forward)
                    for (Pair& p : pairs) std::swap(p.first, p.second);
                const auto end =
                    s.stale + t.stale == 0 ? pairs.end() : std::remove_if(pairs.begin(), pairs.end(), wrong);
                take(pairs.first(static_cast<std::size_t>(end - pairs.begin())));
                return std::size_t{0};
            };
            {
                broad_phase::PairBuffer buffer(found, 0, broad_phase::spill_to(block, hand_on));
                tests += forward ? broad_phase::pairs_between(u, 0, u.size, v, false, buffer)
                                 : broad_phase::pairs_between(v, 0, v.size, u, false, buffer);
            }
            hand_on(found);
        }
    return tests;
}

// Takes false pairs out of a buffer that holds more than the limit. If the true ones alone are more, they are counted
// and dropped, so that the error can name the size.
template <int D, class T>
class HashGridHierarchy<D, T>::Impl::Within {
  public:
    Within(const Impl& s, std::size_t limit, std::size_t& dropped) : s_(s), limit_(limit), dropped_(dropped) {}

    /// From now on no false pairs are added.
    void all_true() { all_true_ = true; }
    std::size_t operator()(std::span<Pair> pairs) const {
        // Pairs that stayed before are still at the front.
        if (!all_true_) pairs = pairs.first(true_ + s_.true_pairs(pairs.subspan(true_)));
        if (pairs.size() <= limit_ && dropped_ == 0) return true_ = pairs.size();
        dropped_ += pairs.size();
        return true_ = 0;
    }

  private:
    const Impl& s_;
    std::size_t limit_;
    std::size_t& dropped_;
    mutable std::size_t true_ = 0;
    bool all_true_ = false;
};

template <int D, class T>
void HashGridHierarchy<D, T>::find_pairs(std::vector<Pair>& out) const {
    using Within = typename Impl::Within;
    const Impl& s = *impl_;
    s.tests = 0;
    const std::size_t limit = s.options.max_bytes / sizeof(Pair);
    const unsigned threads = s.sorted < parallel_above ? 1 : base::thread_count(s.options.executor);
    const auto check = [&](std::size_t total) {
        if (total <= limit) return;
        out.clear();
        cells::throw_too_large(total, s.options.max_bytes);
    };
    if (threads == 1) {
        std::size_t dropped = 0, done = 0;
        try {
            Within within(s, limit, dropped);
            broad_phase::PairBuffer buffer(out, 0, broad_phase::spill_to(limit, within));
            const auto jobs = s.jobs(pieces_in_turn);
            typename Impl::Window window(s);
            for (const auto& job : jobs) {
                s.run(job, window, buffer);
                base::check_in(s.options.watch, ++done, jobs.size());
                // As if the rest were like the first eighth; a wrong guess costs a copy, or room that is never touched.
                if (done == jobs.size() / 8)
                    buffer.expect(std::min({buffer.size() / done * jobs.size() * 17 / 16, 8 * s.sorted, limit}));
            }
            within.all_true();
            s.loose_pairs(buffer);
        } catch (...) {
            out.clear();
            throw;
        }
        check(out.size() + dropped);
        return;
    }
    out.clear();
    // The slabs that a piece shares with the next one are sorted twice.
    const auto jobs = s.jobs(std::size_t{3} * threads);
    std::unique_lock lock(s.scratch_mutex, std::try_to_lock);
    std::vector<std::vector<Pair>> own;
    std::vector<std::vector<Pair>>& parts = lock.owns_lock() ? s.scratch : own;
    if (parts.size() < jobs.size()) parts.resize(jobs.size());
    std::atomic<std::size_t> total{0};
    std::size_t done = 0;
    std::mutex report;
    std::vector<std::size_t> counts(jobs.size(), 0);
    base::run_tasks(s.options.executor, jobs.size(), [&](std::size_t k) {
        std::size_t dropped = 0;
        {
            const Within within(s, limit, dropped);
            broad_phase::PairBuffer buffer(parts[k], 0, broad_phase::spill_to(limit, within));
            typename Impl::Window window(s);
            s.run(jobs[k], window, buffer);
        }
        counts[k] = parts[k].size() + dropped;
        if ((total += counts[k]) > limit) std::vector<Pair>().swap(parts[k]);
        const std::lock_guard one(report);
        base::check_in(s.options.watch, ++done, jobs.size());
    });
    check(total);
    std::vector<std::size_t> begin(jobs.size() + 1, 0);
    for (std::size_t k = 0; k < jobs.size(); ++k) begin[k + 1] = begin[k] + counts[k];
    out.resize(begin.back());
    base::run_tasks(s.options.executor, jobs.size(), [&](std::size_t k) {
        if (counts[k] != 0) std::copy_n(parts[k].data(), counts[k], out.data() + begin[k]);
    });
    std::size_t dropped = 0;
    {
        Within within(s, limit, dropped);
        within.all_true();
        broad_phase::PairBuffer buffer(out, out.size(), broad_phase::spill_to(limit, within));
        s.loose_pairs(buffer);
    }
    check(out.size() + dropped);
}

template <int D, class T>
void HashGridHierarchy<D, T>::visit_pairs(void (*visit)(void*, std::span<const Pair>), void* context) const {
    const Impl& s = *impl_;
    s.tests = 0;
    std::vector<Pair> chunk;
    const auto hand_on = [&](std::span<Pair> pairs) {
        visit(context, pairs.first(s.true_pairs(pairs)));
        return std::size_t{0};
    };
    const auto spill = broad_phase::spill_to(block, hand_on);
    typename Impl::Window window(s);
    const auto jobs = s.jobs(pieces_in_turn);
    std::size_t done = 0;
    for (const auto& job : jobs) {
        {
            broad_phase::PairBuffer buffer(chunk, 0, spill);
            s.run(job, window, buffer);
        }
        visit(context, chunk);
        base::check_in(s.options.watch, ++done, jobs.size());
    }
    {
        const auto all = [&](std::span<Pair> pairs) {
            visit(context, pairs);
            return std::size_t{0};
        };
        broad_phase::PairBuffer buffer(chunk, 0, broad_phase::spill_to(block, all));
        s.loose_pairs(buffer);
    }
    visit(context, chunk);
}

template <int D, class T>
void HashGridHierarchy<D, T>::visit_chunks(void (*visit)(void*, std::span<const Pair>), void* context) const {
    const Impl& s = *impl_;
    s.tests = 0;
    const auto jobs = s.jobs(pieces_in_turn);
    std::mutex report;
    std::size_t done = 0;
    base::run_tasks(s.options.executor, jobs.size(), [&](std::size_t k) {
        std::vector<Pair> chunk;
        const auto hand_on = [&](std::span<Pair> pairs) {
            const std::size_t count = s.true_pairs(pairs);
            if (count != 0) visit(context, pairs.first(count));
            return std::size_t{0};
        };
        {
            typename Impl::Window window(s);
            broad_phase::PairBuffer buffer(chunk, 0, broad_phase::spill_to(block, hand_on));
            s.run(jobs[k], window, buffer);
        }
        if (!chunk.empty()) visit(context, chunk);
        const std::lock_guard one(report);
        base::check_in(s.options.watch, ++done, jobs.size());
    });
    std::vector<Pair> chunk;
    {
        const auto all = [&](std::span<Pair> pairs) {
            visit(context, pairs);
            return std::size_t{0};
        };
        broad_phase::PairBuffer buffer(chunk, 0, broad_phase::spill_to(block, all));
        s.loose_pairs(buffer);
    }
    if (!chunk.empty()) visit(context, chunk);
}

template <int D, class T>
void HashGridHierarchy<D, T>::check_size(std::size_t count, std::vector<Pair>& out) const {
    if (count <= impl_->options.max_bytes / sizeof(Pair)) return;
    out.clear();
    cells::throw_too_large(count, impl_->options.max_bytes);
}

template <int D, class T>
std::size_t HashGridHierarchy<D, T>::most_pairs() const {
    return impl_->options.max_bytes / sizeof(Pair);
}

template <int D, class T>
void find_pairs(const HashGridHierarchy<D, T>& a, const HashGridHierarchy<D, T>& b, std::vector<Pair>& out) {
    using Impl = typename HashGridHierarchy<D, T>::Impl;
    const Impl &s = *a.impl_, &t = *b.impl_;
    cells::BoundedPairs pairs(out, std::min(s.options.max_bytes, t.options.max_bytes));
    broad_phase::Found ids;
    const auto filter_of = [](const Impl& set, std::uint32_t i) {
        return set.filters.empty() ? Filter{} : Filter{set.filters[i][0], set.filters[i][1]};
    };
    const auto may_meet = [&](std::uint32_t i, std::uint32_t j) {
        const Filter p = filter_of(s, i), q = filter_of(t, j);
        return (p.group & q.mask) != 0 && (q.group & p.mask) != 0;
    };
    const bool round = !s.spheres.empty() && !t.spheres.empty();
    const auto add = [&](std::uint32_t i, std::uint32_t j) {
        if (may_meet(i, j) && (!round || spheres_overlap(s.spheres[i], t.spheres[j]))) pairs.push({i, j});
    };
    std::uint64_t tests = Impl::pairs_of_grids(s, t, [&](std::span<const Pair> found) {
        for (const Pair& p : found) add(p.first, p.second);
    });
    s.loose.for_each([&](std::uint32_t i) {
        tests += t.for_each_overlap(s.loose.box(i), ids, [&](std::uint32_t j, const Box<D, T>&) { add(i, j); });
    });
    t.loose.for_each([&](std::uint32_t j) {
        tests += s.for_each_sorted_overlap(t.loose.box(j), ids, [&](std::uint32_t i, const Box<D, T>&) { add(i, j); });
    });
    // What is unbounded is tested against each object of the other set once.
    for (const auto& u : s.unbounded) {
        t.for_each_sorted([&](std::uint32_t j, const Box<D, T>& box) {
            if (Impl::reaches(u, box)) add(u.slot, j);
        });
        t.loose.for_each([&](std::uint32_t j) {
            if (Impl::reaches(u, t.loose.box(j))) add(u.slot, j);
        });
        for (const auto& v : t.unbounded)
            if (Impl::meet(u, v)) add(u.slot, v.slot);
    }
    for (const auto& v : t.unbounded)
        s.for_each_sorted([&](std::uint32_t i, const Box<D, T>& box) {
            if (Impl::reaches(v, box)) add(i, v.slot);
        });
    pairs.finish();
    s.tests = tests + s.unbounded.size() * t.alive + t.unbounded.size() * (s.alive - s.unbounded.size());
}

#define QUADRAT_INSTANTIATE(D, T)                                                                             \
    template void HashGridHierarchy<D, T>::find_pairs(std::vector<Pair>&) const;                              \
    template void HashGridHierarchy<D, T>::visit_pairs(void (*)(void*, std::span<const Pair>), void*) const;  \
    template void HashGridHierarchy<D, T>::visit_chunks(void (*)(void*, std::span<const Pair>), void*) const; \
    template void HashGridHierarchy<D, T>::check_size(std::size_t, std::vector<Pair>&) const;                 \
    template std::size_t HashGridHierarchy<D, T>::most_pairs() const;                                         \
    template void find_pairs(const HashGridHierarchy<D, T>&, const HashGridHierarchy<D, T>&, std::vector<Pair>&);
QUADRAT_INSTANTIATE(2, float)
QUADRAT_INSTANTIATE(3, float)
QUADRAT_INSTANTIATE(2, double)
QUADRAT_INSTANTIATE(3, double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
