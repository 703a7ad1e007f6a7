#include "broad_phase/hashes/group_map.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/bounded_pairs.hpp"
#include "cells/counting_sort.hpp"
#include "cells/hash.hpp"
#include "cells/quantiser.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t max_cells_per_object = 64;

}  // namespace

template <int D, class T>
GroupMap<D, T>::GroupMap(const GroupHashOptions& options, VoxelOrder order) : options_(options), order_(order) {
    if (options.group_size < 1 || options.group_size > 64)
        throw Error(ErrorKind::bad_value, "must be in 1..64", {.field = "group_size"});
    if (!(options.voxels_per_object > 0 && options.voxels_per_object <= 64))
        throw Error(ErrorKind::bad_value, "must be positive and at most 64", {.field = "voxels_per_object"});
    if (!(options.cell_edge >= 0 && std::isfinite(options.cell_edge)))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.field = "cell_edge"});
}

template <int D, class T>
std::uint32_t GroupMap<D, T>::insert(std::span<const Box<D, T>> boxes) {
    const std::uint32_t first = append(boxes, 0);
    rebuild();
    return first;
}

template <int D, class T>
std::uint32_t GroupMap<D, T>::insert_static(std::span<const Box<D, T>> boxes) {
    const std::uint32_t first = append(boxes, 1);
    choose_edge();
    find_static_entries();
    rebuild();
    return first;
}

template <int D, class T>
std::uint32_t GroupMap<D, T>::append(std::span<const Box<D, T>> boxes, std::uint8_t still) {
    cells::check_boxes<D, T>(boxes, options_.executor);
    cells::check_count(boxes_.size() + boxes.size());
    const auto first = static_cast<std::uint32_t>(boxes_.size());
    boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
    still_.resize(boxes_.size(), still);
    lower_.resize(boxes_.size());
    is_oversize_.resize(boxes_.size());
    return first;
}

template <int D, class T>
void GroupMap<D, T>::update(std::span<const Box<D, T>> moved) {
    if (moved.size() != boxes_.size())
        throw Error(ErrorKind::bad_shape, "update() wants one box per slot",
                    {.index = std::min(moved.size(), boxes_.size())});
    for (std::size_t i = 0; i < moved.size(); ++i)
        if (!still_[i]) cells::check_box(moved[i], i);
    for (std::size_t i = 0; i < moved.size(); ++i)
        if (!still_[i]) boxes_[i] = moved[i];
    rebuild();
}

template <int D, class T>
bool GroupMap<D, T>::before(const Entry& a, const Entry& b) {
    for (int k = D - 1; k >= 0; --k)
        if (a.cell[k] != b.cell[k]) return a.cell[k] < b.cell[k];
    return a.object < b.object;
}

template <int D, class T>
void GroupMap<D, T>::choose_edge() {
    if (options_.cell_edge > 0) {
        edge_ = options_.cell_edge;
        return;
    }
    if (edge_ > 0 || boxes_.empty()) return;
    double longest = 0;
    for (const Box<D, T>& b : boxes_)
        for (int k = 0; k < D; ++k)
            if (std::isfinite(b.lo[k]) && std::isfinite(b.hi[k]))
                longest = std::max(longest, static_cast<double>(b.hi[k]) / 2 - static_cast<double>(b.lo[k]) / 2);
    edge_ = std::min(2 * longest, std::numeric_limits<double>::max());
    if (!(edge_ > 0)) edge_ = 1;
}

template <int D, class T>
void GroupMap<D, T>::find_static_entries() {
    static_entries_.clear();
    for (std::uint32_t i = 0; i < boxes_.size(); ++i)
        if (still_[i]) add_entries(i, static_entries_);
    std::sort(static_entries_.begin(), static_entries_.end(), before);
}

template <int D, class T>
void GroupMap<D, T>::rebuild() {
    QUADRAT_ASSERT(still_.size() == boxes_.size() && lower_.size() == boxes_.size());
    choose_edge();
    const double wanted = std::ceil(options_.voxels_per_object * static_cast<double>(boxes_.size()));
    voxels_ = std::max<std::size_t>(options_.group_size, static_cast<std::size_t>(wanted));
    std::vector<Entry> moving;
    for (std::uint32_t i = 0; i < boxes_.size(); ++i)
        if (!still_[i]) add_entries(i, moving);
    std::sort(moving.begin(), moving.end(), before);
    entries_.resize(static_entries_.size() + moving.size());
    std::merge(static_entries_.begin(), static_entries_.end(), moving.begin(), moving.end(), entries_.begin(), before);
    cells::check_count(entries_.size());
    oversize_.clear();
    for (std::uint32_t i = 0; i < boxes_.size(); ++i)
        if (is_oversize_[i]) oversize_.push_back(i);
    map_groups();
}

template <int D, class T>
void GroupMap<D, T>::add_entries(std::uint32_t object, std::vector<Entry>& out) {
    QUADRAT_ASSERT(object < boxes_.size() && edge_ > 0);
    const Box<D, T>& box = boxes_[object];
    const cells::AxisQuantiser quantise(edge_);
    Cell lo{}, hi{};
    double count = 1;
    bool finite = true;
    for (int k = 0; k < D; ++k) {
        finite = finite && std::isfinite(box.lo[k]) && std::isfinite(box.hi[k]);
        if (!finite) break;
        lo[k] = quantise(static_cast<double>(box.lo[k]));
        hi[k] = quantise(static_cast<double>(box.hi[k]));
        count *= static_cast<double>(hi[k] - lo[k]) + 1;
    }
    lower_[object] = lo;
    is_oversize_[object] = !finite || !(count <= static_cast<double>(max_cells_per_object));
    if (is_oversize_[object]) return;
    Cell c = lo;
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

// GSH Algorithm 1 over unique cells.
template <int D, class T>
void GroupMap<D, T>::map_groups() {
    QUADRAT_ASSERT(std::is_sorted(entries_.begin(), entries_.end(), before));
    QUADRAT_ASSERT(voxels_ >= options_.group_size);
    runs_.clear();
    load_.assign(voxels_, 0);
    const std::uint64_t share = voxels_ / options_.group_size;
    for (std::uint32_t i = 0; i < entries_.size();) {
        std::uint32_t j = i + 1;
        while (j < entries_.size() && entries_[j].cell == entries_[i].cell) ++j;
        const std::uint64_t h = cells::xor_hash<D>(entries_[i].cell) % share;
        std::uint64_t smallest = h;
        for (std::uint64_t k = 1; k < options_.group_size; ++k)
            if (load_[h + k * share] < load_[smallest]) smallest = h + k * share;
        load_[smallest] += j - i;
        runs_.push_back({i, j, static_cast<std::uint32_t>(smallest)});
        i = j;
    }
    const std::vector<Run> in_order_of_cells = runs_;
    voxel_begin_.assign(voxels_ + 1, 0);
    cells::counting_sort(
        std::span(voxel_begin_).subspan(1), 0, static_cast<std::uint32_t>(runs_.size()),
        [&](std::uint32_t r) { return in_order_of_cells[r].voxel; },
        [&](std::uint32_t r, std::uint32_t place) { runs_[place] = in_order_of_cells[r]; });
}

// True in the one cell that a pair is reported in.
template <int D, class T>
bool GroupMap<D, T>::home(const Cell& cell, std::uint32_t a, std::uint32_t b) const {
    QUADRAT_ASSERT(!is_oversize_[a] && !is_oversize_[b]);  // which have no entries
    for (int k = 0; k < D; ++k)
        if (cell[k] != std::max(lower_[a][k], lower_[b][k])) return false;
    return true;
}

template <int D, class T>
template <class Out>
void GroupMap<D, T>::meet(const Cell& cell, std::uint32_t a, std::uint32_t b, Out& out, std::uint64_t& tested) const {
    ++tested;
    if (!overlap(boxes_[a], boxes_[b]) || !home(cell, a, b)) return;
    out.add(a, b);
}

template <int D, class T>
template <class Out>
void GroupMap<D, T>::voxel_pairs(std::size_t voxel, Out& out, std::uint64_t& tested, std::uint64_t& seen) const {
    QUADRAT_ASSERT(voxel < voxels_);
    if (order_ == VoxelOrder::mixed) return mixed_pairs(voxel, out, tested, seen);
    for (std::uint32_t r = voxel_begin_[voxel]; r < voxel_begin_[voxel + 1]; ++r)
        for (std::uint32_t i = runs_[r].begin; i < runs_[r].end; ++i)
            for (std::uint32_t j = i + 1; j < runs_[r].end; ++j) {
                ++seen;
                meet(entries_[i].cell, entries_[i].object, entries_[j].object, out, tested);
            }
}

template <int D, class T>
template <class Out>
void GroupMap<D, T>::mixed_pairs(std::size_t voxel, Out& out, std::uint64_t& tested, std::uint64_t& seen) const {
    std::vector<const Entry*> all;
    for (std::uint32_t r = voxel_begin_[voxel]; r < voxel_begin_[voxel + 1]; ++r)
        for (std::uint32_t i = runs_[r].begin; i < runs_[r].end; ++i) all.push_back(&entries_[i]);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            ++seen;
            if (all[i]->cell == all[j]->cell) meet(all[i]->cell, all[i]->object, all[j]->object, out, tested);
        }
}

template <int D, class T>
template <class Out>
void GroupMap<D, T>::oversize_pairs(Out& out) const {
    for (const std::uint32_t a : oversize_)
        for (std::uint32_t b = 0; b < boxes_.size(); ++b) {
            if (b == a || (is_oversize_[b] && b < a)) continue;
            ++tests_;
            ++compared_;
            if (overlap(boxes_[a], boxes_[b])) out.add(a, b);
        }
}

template <int D, class T>
void GroupMap<D, T>::visit_pairs(Visit visit, void* context) const {
    struct Blocks {
        Visit visit;
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
    for (std::size_t v = 0; v < (boxes_.empty() ? 0 : voxels_); ++v) voxel_pairs(v, blocks, tested, seen);
    tests_ = tested;
    compared_ = seen;
    oversize_pairs(blocks);
    blocks.flush();
}

template <int D, class T>
void GroupMap<D, T>::find_pairs(std::vector<Pair>& out) const {
    constexpr std::size_t grain = 256;
    const std::size_t chunks = base::chunk_count(voxels_, grain);
    std::vector<std::vector<Pair>> part(chunks + 1);
    tests_ = 0;
    compared_ = 0;
    const std::size_t limit = options_.max_bytes / sizeof(Pair);
    std::atomic<std::size_t> total{0};
    base::run_tasks(options_.executor, boxes_.empty() ? 0 : chunks, [&](std::size_t c) {
        std::uint64_t tested = 0, seen = 0;
        cells::BoundedPairs pairs(part[c], options_.max_bytes);
        for (std::size_t v = c * grain; v < std::min(voxels_, (c + 1) * grain); ++v)
            voxel_pairs(v, pairs, tested, seen);
        if ((total += pairs.count()) > limit) std::vector<Pair>().swap(part[c]);
        tests_ += tested;
        compared_ += seen;
    });
    cells::BoundedPairs rest(part[chunks], options_.max_bytes);
    oversize_pairs(rest);
    out.clear();
    total += rest.count();
    if (total > limit) cells::throw_too_large(total, options_.max_bytes);
    out.reserve(total);
    for (const auto& p : part) out.insert(out.end(), p.begin(), p.end());
}

template <int D, class T>
GroupHashStats GroupMap<D, T>::stats() const {
    GroupHashStats s;
    s.voxels = voxels_;
    s.cells = runs_.size();
    s.entries = entries_.size();
    s.oversize = oversize_.size();
    s.tests = tests_;
    s.cell_edge = edge_;
    s.bytes = boxes_.capacity() * sizeof(Box<D, T>) +
              (entries_.capacity() + static_entries_.capacity()) * sizeof(Entry) + lower_.capacity() * sizeof(Cell) +
              runs_.capacity() * sizeof(Run) +
              (voxel_begin_.capacity() + load_.capacity() + oversize_.capacity()) * sizeof(std::uint32_t) +
              still_.capacity() + is_oversize_.capacity();
    return s;
}

template class GroupMap<2, float>;
template class GroupMap<3, float>;
template class GroupMap<2, double>;
template class GroupMap<3, double>;

}  // namespace quadrat::broad_phase
