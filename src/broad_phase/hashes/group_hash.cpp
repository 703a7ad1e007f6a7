// Group mapping (GSH Algorithm 1) with the index rule I_k = h mod floor(H / n) + k floor(H / n), k < n: the paper's
// text can map one cell to two voxels and lose pairs, its Algorithm 1 cannot. Departures: unique cells choose their
// voxels in sorted order, so that the map does not depend on the order of objects or threads; a pair that shares
// several cells is reported in the one that holds the larger of the two lower corners; objects that cover more than 64
// cells are kept in a list and tested against all.
#include <quadrat/broad_phase/group_hash.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/bounded_pairs.hpp"
#include "cells/counting_sort.hpp"
#include "cells/hash.hpp"
#include "cells/quantiser.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>

namespace quadrat {
namespace {

constexpr std::size_t max_cells_per_object = 64;

template <int D>
using CellOf = Vec<D, std::int64_t>;

template <int D>
bool before(const CellOf<D>& a, const CellOf<D>& b) {
    for (int k = D - 1; k >= 0; --k)
        if (a[k] != b[k]) return a[k] < b[k];
    return false;
}

template <int D>
struct Entry {
    CellOf<D> cell;
    std::uint32_t object;
};

template <int D>
bool by_cell(const Entry<D>& a, const Entry<D>& b) {
    return a.cell == b.cell ? a.object < b.object : before<D>(a.cell, b.cell);
}

// A run of entries with the same cell.
struct Run {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t voxel;
};

}  // namespace

template <int D, class T>
struct GroupHash<D, T>::Impl {
    GroupHashOptions options;
    std::vector<Box<D, T>> boxes;
    std::vector<std::uint8_t> still;
    double edge = 0;
    std::size_t voxels = 0;
    std::vector<Entry<D>> static_entries;  // sorted by cell; found once
    std::vector<Entry<D>> entries;         // all, sorted by cell
    std::vector<CellOf<D>> lower;          // cell of the lower corner of each object
    std::vector<std::uint32_t> oversize;
    std::vector<std::uint8_t> is_oversize;
    std::vector<Run> runs;                   // sorted by voxel, then by cell
    std::vector<std::uint32_t> voxel_begin;  // runs of each voxel
    std::vector<std::uint32_t> load;         // entries of each voxel
    mutable std::atomic<std::uint64_t> tests{0};
    mutable std::atomic<std::uint64_t> compared{0};

    void add_entries(std::uint32_t object, std::vector<Entry<D>>& out) {
        const Box<D, T>& box = boxes[object];
        const cells::AxisQuantiser quantise(edge);
        CellOf<D> lo{}, hi{};
        double count = 1;
        bool finite = true;
        for (int k = 0; k < D; ++k) {
            finite = finite && std::isfinite(box.lo[k]) && std::isfinite(box.hi[k]);
            if (!finite) break;
            lo[k] = quantise(static_cast<double>(box.lo[k]));
            hi[k] = quantise(static_cast<double>(box.hi[k]));
            count *= static_cast<double>(hi[k] - lo[k]) + 1;
        }
        lower[object] = lo;
        is_oversize[object] = !finite || !(count <= static_cast<double>(max_cells_per_object));
        if (is_oversize[object]) return;
        CellOf<D> c = lo;
        for (;;) {
            out.push_back({c, object});
            int k = 0;
            while (k < D && c[k] == hi[k]) {
                c[k] = lo[k];
                ++k;
            }
            if (k == D) return;
            ++c[k];
        }
    }

    void choose_edge() {
        if (options.cell_edge > 0) {
            edge = options.cell_edge;
            return;
        }
        if (edge > 0 || boxes.empty()) return;
        double longest = 0;
        for (const Box<D, T>& b : boxes)
            for (int k = 0; k < D; ++k)
                if (std::isfinite(b.lo[k]) && std::isfinite(b.hi[k]))
                    longest = std::max(longest, static_cast<double>(b.hi[k]) / 2 - static_cast<double>(b.lo[k]) / 2);
        edge = std::min(2 * longest, std::numeric_limits<double>::max());
        if (!(edge > 0)) edge = 1;
    }

    void rebuild(bool static_too) {
        choose_edge();
        const double wanted = std::ceil(options.voxels_per_object * static_cast<double>(boxes.size()));
        voxels = std::max<std::size_t>(options.group_size, static_cast<std::size_t>(wanted));
        lower.resize(boxes.size());
        is_oversize.resize(boxes.size());
        if (static_too) {
            static_entries.clear();
            for (std::uint32_t i = 0; i < boxes.size(); ++i)
                if (still[i]) add_entries(i, static_entries);
            std::sort(static_entries.begin(), static_entries.end(), by_cell<D>);
        }
        std::vector<Entry<D>> moving;
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (!still[i]) add_entries(i, moving);
        std::sort(moving.begin(), moving.end(), by_cell<D>);
        entries.resize(static_entries.size() + moving.size());
        std::merge(static_entries.begin(), static_entries.end(), moving.begin(), moving.end(), entries.begin(),
                   by_cell<D>);
        cells::check_count(entries.size());
        oversize.clear();
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (is_oversize[i]) oversize.push_back(i);
        map_groups();
    }

    // GSH Algorithm 1 over unique cells.
    void map_groups() {
        runs.clear();
        load.assign(voxels, 0);
        const std::uint64_t share = voxels / options.group_size;
        for (std::uint32_t i = 0; i < entries.size();) {
            std::uint32_t j = i + 1;
            while (j < entries.size() && entries[j].cell == entries[i].cell) ++j;
            const std::uint64_t h = cells::xor_hash<D>(entries[i].cell) % share;
            std::uint64_t smallest = h;
            for (std::uint64_t k = 1; k < options.group_size; ++k)
                if (load[h + k * share] < load[smallest]) smallest = h + k * share;
            load[smallest] += j - i;
            runs.push_back({i, j, static_cast<std::uint32_t>(smallest)});
            i = j;
        }
        const std::vector<Run> in_order_of_cells = runs;
        voxel_begin.assign(voxels + 1, 0);
        cells::counting_sort(
            std::span(voxel_begin).subspan(1), 0, static_cast<std::uint32_t>(runs.size()),
            [&](std::uint32_t r) { return in_order_of_cells[r].voxel; },
            [&](std::uint32_t r, std::uint32_t place) { runs[place] = in_order_of_cells[r]; });
    }

    // True in the one cell that a pair is reported in.
    [[nodiscard]] bool home(const CellOf<D>& cell, std::uint32_t a, std::uint32_t b) const {
        for (int k = 0; k < D; ++k)
            if (cell[k] != std::max(lower[a][k], lower[b][k])) return false;
        return true;
    }

    template <class Out>
    void meet(const CellOf<D>& cell, std::uint32_t a, std::uint32_t b, Out& out, std::uint64_t& tested) const {
        ++tested;
        if (!overlap(boxes[a], boxes[b]) || !home(cell, a, b)) return;
        out.add(a, b);
    }

    template <class Out>
    void voxel_pairs(std::size_t voxel, Out& out, std::uint64_t& tested, std::uint64_t& seen) const {
        const std::uint32_t first = voxel_begin[voxel];
        const std::uint32_t last = voxel_begin[voxel + 1];
        if (options.order == VoxelOrder::by_cell) {
            for (std::uint32_t r = first; r < last; ++r)
                for (std::uint32_t i = runs[r].begin; i < runs[r].end; ++i)
                    for (std::uint32_t j = i + 1; j < runs[r].end; ++j) {
                        ++seen;
                        meet(entries[i].cell, entries[i].object, entries[j].object, out, tested);
                    }
            return;
        }
        std::vector<const Entry<D>*> all;
        for (std::uint32_t r = first; r < last; ++r)
            for (std::uint32_t i = runs[r].begin; i < runs[r].end; ++i) all.push_back(&entries[i]);
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = i + 1; j < all.size(); ++j) {
                ++seen;
                if (all[i]->cell == all[j]->cell) meet(all[i]->cell, all[i]->object, all[j]->object, out, tested);
            }
    }

    template <class Out>
    void oversize_pairs(Out& out) const {
        for (const std::uint32_t a : oversize)
            for (std::uint32_t b = 0; b < boxes.size(); ++b) {
                if (b == a || (is_oversize[b] && b < a)) continue;
                ++tests;
                ++compared;
                if (overlap(boxes[a], boxes[b])) out.add(a, b);
            }
    }

    // The pairs in the order of find(), a block at a time.
    void stream(void (*visit)(void*, std::span<const Pair>), void* context) const {
        struct Blocks {
            void (*visit)(void*, std::span<const Pair>);
            void* context;
            std::vector<Pair> pairs = {};
            void add(std::uint32_t a, std::uint32_t b) {
                pairs.push_back({std::min(a, b), std::max(a, b)});
                if (pairs.size() == 4096) flush();
            }
            void flush() {
                visit(context, pairs);
                pairs.clear();
            }
        } blocks{visit, context};
        std::uint64_t tested = 0, seen = 0;
        for (std::size_t v = 0; v < (boxes.empty() ? 0 : voxels); ++v) voxel_pairs(v, blocks, tested, seen);
        tests = tested;
        compared = seen;
        oversize_pairs(blocks);
        blocks.flush();
    }

    void find(std::vector<Pair>& out) const {
        constexpr std::size_t grain = 256;
        const std::size_t chunks = base::chunk_count(voxels, grain);
        std::vector<std::vector<Pair>> part(chunks + 1);
        tests = 0;
        compared = 0;
        const std::size_t limit = options.max_bytes / sizeof(Pair);
        std::atomic<std::size_t> total{0};
        base::run_tasks(options.executor, boxes.empty() ? 0 : chunks, [&](std::size_t c) {
            std::uint64_t tested = 0, seen = 0;
            cells::BoundedPairs pairs(part[c], options.max_bytes);
            for (std::size_t v = c * grain; v < std::min(voxels, (c + 1) * grain); ++v)
                voxel_pairs(v, pairs, tested, seen);
            if ((total += pairs.count()) > limit) std::vector<Pair>().swap(part[c]);
            tests += tested;
            compared += seen;
        });
        cells::BoundedPairs rest(part[chunks], options.max_bytes);
        oversize_pairs(rest);
        out.clear();
        total += rest.count();
        if (total > limit) cells::throw_too_large(total, options.max_bytes);
        out.reserve(total);
        for (const auto& p : part) out.insert(out.end(), p.begin(), p.end());
    }
};

template <int D, class T>
GroupHash<D, T>::GroupHash(const Options& options) : impl_(std::make_unique<Impl>()) {
    if (options.group_size < 1 || options.group_size > 64)
        throw Error(ErrorKind::bad_value, "must be in 1..64", {.field = "group_size"});
    if (!(options.voxels_per_object > 0 && options.voxels_per_object <= 64))
        throw Error(ErrorKind::bad_value, "must be positive and at most 64", {.field = "voxels_per_object"});
    if (!(options.cell_edge >= 0 && std::isfinite(options.cell_edge)))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.field = "cell_edge"});
    impl_->options = options;
}

template <int D, class T>
GroupHash<D, T>::~GroupHash() = default;
template <int D, class T>
GroupHash<D, T>::GroupHash(GroupHash&&) noexcept = default;
template <int D, class T>
GroupHash<D, T>& GroupHash<D, T>::operator=(GroupHash&&) noexcept = default;

template <int D, class T>
std::uint32_t GroupHash<D, T>::insert(std::span<const Box<D, T>> added) {
    cells::check_boxes<D, T>(added, impl_->options.executor);
    cells::check_count(impl_->boxes.size() + added.size());
    const auto first = static_cast<std::uint32_t>(impl_->boxes.size());
    impl_->boxes.insert(impl_->boxes.end(), added.begin(), added.end());
    impl_->still.resize(impl_->boxes.size(), 0);
    impl_->rebuild(false);
    return first;
}

template <int D, class T>
std::uint32_t GroupHash<D, T>::insert_static(std::span<const Box<D, T>> added) {
    cells::check_boxes<D, T>(added, impl_->options.executor);
    cells::check_count(impl_->boxes.size() + added.size());
    const auto first = static_cast<std::uint32_t>(impl_->boxes.size());
    impl_->boxes.insert(impl_->boxes.end(), added.begin(), added.end());
    impl_->still.resize(impl_->boxes.size(), 1);
    impl_->rebuild(true);
    return first;
}

template <int D, class T>
void GroupHash<D, T>::update(std::span<const Box<D, T>> moved) {
    if (moved.size() != impl_->boxes.size())
        throw Error(ErrorKind::bad_shape, "update() wants one box per slot",
                    {.index = std::min(moved.size(), impl_->boxes.size())});
    for (std::size_t i = 0; i < moved.size(); ++i)
        if (!impl_->still[i]) cells::check_box(moved[i], i);
    for (std::size_t i = 0; i < moved.size(); ++i)
        if (!impl_->still[i]) impl_->boxes[i] = moved[i];
    impl_->rebuild(false);
}

template <int D, class T>
void GroupHash<D, T>::clear() {
    const Options options = impl_->options;
    impl_ = std::make_unique<Impl>();
    impl_->options = options;
}

template <int D, class T>
void GroupHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->find(out);
}

template <int D, class T>
void GroupHash<D, T>::visit_pairs(void (*visit)(void*, std::span<const Pair>), void* context) const {
    impl_->stream(visit, context);
}

template <int D, class T>
std::size_t GroupHash<D, T>::slots() const {
    return impl_->boxes.size();
}

template <int D, class T>
GroupHashStats GroupHash<D, T>::stats() const {
    const Impl& i = *impl_;
    GroupHashStats s;
    s.voxels = i.voxels;
    s.cells = i.runs.size();
    s.entries = i.entries.size();
    s.oversize = i.oversize.size();
    s.tests = i.tests;
    s.compared = i.compared;
    s.cell_edge = i.edge;
    s.bytes = i.boxes.capacity() * sizeof(Box<D, T>) +
              (i.entries.capacity() + i.static_entries.capacity()) * sizeof(Entry<D>) +
              i.lower.capacity() * sizeof(CellOf<D>) + i.runs.capacity() * sizeof(Run) +
              (i.voxel_begin.capacity() + i.load.capacity() + i.oversize.capacity()) * sizeof(std::uint32_t) +
              i.still.capacity() + i.is_oversize.capacity();
    return s;
}

template <int D, class T>
std::vector<std::uint32_t> GroupHash<D, T>::voxel_loads() const {
    return impl_->load;
}

template class GroupHash<2, float>;
template class GroupHash<3, float>;
template class GroupHash<2, double>;
template class GroupHash<3, double>;

}  // namespace quadrat
