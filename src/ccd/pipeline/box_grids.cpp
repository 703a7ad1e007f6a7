#include "ccd/pipeline/box_grids.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include "base/assert.hpp"
#include "broad_phase/sorted/size_classes.hpp"

#include <algorithm>

namespace quadrat::ccd {
namespace {

constexpr std::size_t sample_size = 2048;      // boxes, for a quantile of their sizes
constexpr double most_of_them = 0.95;          // the quantile: what is larger is the tail
constexpr float tail_ratio = 16;               // of the largest size to the quantile; beyond, two grids are too few
constexpr std::size_t objects_per_job = 2048;  // their pairs stay in the cache until they are used

using Shape = broad_phase::GridShape<3, float>;
using Grids = BoxGrids::Grids;

HashGridHierarchy<3, float> hierarchy(std::span<const Box3f> boxes) {
    HashGridHierarchy<3, float> grid;
    grid.insert(boxes);
    return grid;
}

std::vector<Box3f> select(std::span<const Box3f> boxes, std::span<const std::uint32_t> ids) {
    std::vector<Box3f> r;
    r.reserve(ids.size());
    for (const std::uint32_t i : ids) r.push_back(boxes[i]);
    return r;
}

// Meshes have features of one size with a tail: one grid for most of them and one for the tail, unless that is long.
std::vector<Shape> choose_shapes(std::span<const Box3f> boxes) {
    broad_phase::GridDemand<3, float> all;
    std::vector<Box3f> sample;
    const std::size_t stride = std::max<std::size_t>(1, boxes.size() / sample_size);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Box3f& b = boxes[i];
        if (!broad_phase::regular(b)) continue;
        all.include(b, all.objects == 0);
        if (all.objects++ % stride == 0) sample.push_back(b);
    }
    if (sample.empty()) return {};
    broad_phase::GridDemand<3, float> most = all;
    bool long_tail = false;
    for (int k = 0; k < 3; ++k) {
        std::vector<float> sizes;
        for (const Box3f& b : sample) sizes.push_back(b.hi[k] - b.lo[k]);
        const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sizes.size()) * most_of_them);
        std::nth_element(sizes.begin(), at, sizes.end());
        most.largest[k] = *at;
        long_tail |= all.largest[k] > tail_ratio * *at;
    }
    if (long_tail) return broad_phase::SizeClasses<3, float>::choose(sample, all.objects);
    all.objects = std::max<std::size_t>(1, all.objects / 8);
    return {Shape::fitting(most, broad_phase::Overflow::enlarge), Shape::fitting(all, broad_phase::Overflow::enlarge)};
}

}  // namespace

void BoxGrids::build(std::span<const Box3f> boxes, Executor* executor) {
    boxes_ = boxes;
    const auto rest = grids_.distribute({boxes}, choose_shapes(boxes), executor);
    grids_.commit(nullptr, broad_phase::Keep::columns, executor);
    misfits_.resize(rest.misfits.size() + rest.unbounded.size());
    std::merge(rest.misfits.begin(), rest.misfits.end(), rest.unbounded.begin(), rest.unbounded.end(),
               misfits_.begin());
}

std::vector<PairJob> jobs_within(const BoxGrids& set) {
    std::vector<PairJob> jobs = set.grids().jobs({objects_per_job});
    const std::uint32_t misfits = set.misfit_grid();
    if (!set.misfits().empty()) jobs.push_back({misfits, misfits, 0, 0});
    return jobs;
}

std::vector<PairJob> jobs_between(const BoxGrids& a, const BoxGrids& b) {
    std::vector<PairJob> jobs = Grids::jobs_between(a.grids(), b.grids(), objects_per_job);
    if (!a.misfits().empty()) jobs.push_back({a.misfit_grid(), 0, 0, 0, false});
    if (!b.misfits().empty()) jobs.push_back({b.misfit_grid(), 0, 0, 0, true});
    return jobs;
}

void find_pairs_within(const BoxGrids& set, const PairJob& job, std::vector<Pair>& out) {
    if (job.home < set.misfit_grid()) {
        broad_phase::PairBuffer buffer(out);
        Grids::Window window(set.grids());
        set.grids().run(job, window, buffer);
        return;
    }
    QUADRAT_ASSERT(job.home == set.misfit_grid() && !set.misfits().empty());
    // Misfits against everything; two misfits meet from both sides.
    const std::span<const std::uint32_t> ids = set.misfits();
    std::vector<Pair> pairs;
    find_pairs(hierarchy(select(set.boxes(), ids)), hierarchy(set.boxes()), pairs);
    for (const Pair& p : pairs) {
        const std::uint32_t a = ids[p.first], b = p.second;
        if (a == b || (a > b && std::binary_search(ids.begin(), ids.end(), b))) continue;
        out.emplace_back(std::min(a, b), std::max(a, b));
    }
}

void find_pairs_between(const BoxGrids& a, const BoxGrids& b, const PairJob& job, std::vector<Pair>& out) {
    const BoxGrids& homes = job.swapped ? b : a;
    const BoxGrids& others = job.swapped ? a : b;
    const std::size_t before = out.size();
    if (job.home < homes.misfit_grid()) {
        broad_phase::PairBuffer buffer(out);
        Grids::run_between(a.grids(), b.grids(), job, buffer);
    } else {
        const std::span<const std::uint32_t> ids = homes.misfits();
        std::vector<Pair> pairs;
        find_pairs(hierarchy(select(homes.boxes(), ids)), hierarchy(others.boxes()), pairs);
        const std::span<const std::uint32_t> done = a.misfits();  // those of a met the misfits of b already
        for (const Pair& p : pairs)
            if (!job.swapped || !std::binary_search(done.begin(), done.end(), p.second))
                out.emplace_back(ids[p.first], p.second);
    }
    if (job.swapped)
        for (std::size_t i = before; i < out.size(); ++i) std::swap(out[i].first, out[i].second);
}

}  // namespace quadrat::ccd
