#include "ccd/box_grids.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include "base/parallel.hpp"
#include "broad_phase/pair_kernel.hpp"
#include "broad_phase/record_kernel.hpp"
#include "broad_phase/size_classes.hpp"

#include <algorithm>

namespace quadrat::ccd {
namespace {

constexpr std::size_t sample_size = 2048;
constexpr double most_of_them = 0.95;
constexpr float tail_ratio = 16;
constexpr std::size_t objects_per_job = 2048;
constexpr std::size_t objects_per_task = 32768;

using Shape = broad_phase::GridShape<3, float>;

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
        for (int k = 0; k < 3; ++k) {
            all.lo[k] = all.objects == 0 ? b.lo[k] : std::min(all.lo[k], b.lo[k]);
            all.hi[k] = all.objects == 0 ? b.lo[k] : std::max(all.hi[k], b.lo[k]);
            all.largest[k] = std::max(all.largest[k], b.hi[k] - b.lo[k]);
        }
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
        long_tail |= all.largest[k] > tail_ratio * *at && all.largest[k] > 0;
    }
    if (long_tail) return broad_phase::choose_grids<3, float>(sample, all.objects);
    all.objects = std::max<std::size_t>(1, all.objects / 8);
    return {broad_phase::make_shape(most, broad_phase::Overflow::enlarge),
            broad_phase::make_shape(all, broad_phase::Overflow::enlarge)};
}

// Ranges of `count` objects.
void cut(std::uint32_t home, std::uint32_t grid, std::size_t count, bool swapped, std::vector<PairJob>& jobs) {
    for (std::size_t b = 0; b < count; b += objects_per_job)
        jobs.push_back({home, grid, b, std::min(count, b + objects_per_job), swapped});
}

}  // namespace

void BoxGrids::build(std::span<const Box3f> boxes, Executor* executor) {
    boxes_ = boxes;
    grids_.clear();
    misfits_.clear();
    if (boxes.empty()) return;
    broad_phase::SlabPartition<3, float> partition;
    std::vector<std::uint32_t> first_slab;
    const std::size_t tasks = base::chunk_count(boxes.size(), objects_per_task);
    const auto distribute = [&](std::span<const Shape> shapes) {
        first_slab.assign(1, 0);
        for (const Shape& s : shapes) first_slab.push_back(first_slab.back() + s.slabs);
        partition.start(tasks, objects_per_task, std::max(1u, first_slab.back()));
        std::vector<std::vector<std::uint32_t>> rest(tasks);
        base::run_tasks(executor, tasks, [&](std::size_t t) {
            auto& lists = partition.task(t);
            const std::size_t end = std::min(boxes.size(), (t + 1) * objects_per_task);
            broad_phase::BlockCells cells;
            Box3f block[broad_phase::cell_block] = {};
            for (std::size_t first = t * objects_per_task; first < end; first += broad_phase::cell_block) {
                const std::size_t count = std::min(end - first, broad_phase::cell_block);
                std::copy_n(boxes.data() + first, count, block);
                std::fill_n(cells.slab, broad_phase::cell_block, broad_phase::no_slab);
                for (std::size_t c = 0; c < shapes.size(); ++c)
                    if (broad_phase::assign_cells(shapes[c], first_slab[c], block, cells) == 0) break;
                for (std::size_t k = 0; k < count; ++k) {
                    const auto i = static_cast<std::uint32_t>(first + k);
                    if (cells.slab[k] == broad_phase::no_slab)
                        rest[t].push_back(i);
                    else if (partition.streamed())
                        partition.add_streamed(lists, cells.slab[k], block[k], i, cells.key[k]);
                    else
                        partition.add(lists, cells.slab[k], block[k], i, cells.key[k]);
                }
            }
            partition.finish(lists);
        });
        misfits_.clear();
        for (const auto& r : rest) misfits_.insert(misfits_.end(), r.begin(), r.end());
    };
    const std::vector<Shape> shapes = choose_shapes(boxes);
    distribute(shapes);
    grids_.resize(shapes.size());
    for (std::size_t g = 0; g < shapes.size(); ++g)
        grids_[g].build(shapes[g], partition, first_slab[g], nullptr, executor);
}

std::vector<PairJob> jobs_within(const BoxGrids& set) {
    std::vector<PairJob> jobs;
    const auto count = static_cast<std::uint32_t>(set.grids());
    for (std::uint32_t g = 0; g < count; ++g) {
        const auto view = set.grid(g);
        // Rows of about so many objects.
        const std::size_t bins = view.shape.bins();
        for (std::size_t row = 0, first = 0; row < view.shape.rows;) {
            const std::size_t begin = row;
            while (row < view.shape.rows && view.start[row * bins] - first < objects_per_job) ++row;
            first = view.start[row * bins];
            jobs.push_back({g, g, begin, row});
        }
        for (std::uint32_t h = g + 1; h < count; ++h) cut(g, h, view.size, false, jobs);
    }
    if (!set.misfits().empty()) jobs.push_back({count, count, 0, 0});
    return jobs;
}

std::vector<PairJob> jobs_between(const BoxGrids& a, const BoxGrids& b) {
    std::vector<PairJob> jobs;
    for (std::uint32_t g = 0; g < a.grids(); ++g)
        for (std::uint32_t h = 0; h < b.grids(); ++h) {
            const auto u = a.grid(g), v = b.grid(h);
            // The grid with more cells has the smaller boxes or the more of them: those look for the others, unless
            // they are far more.
            if (u.size < v.size / 8 || (u.shape.cells() >= v.shape.cells() && v.size >= u.size / 8))
                cut(g, h, u.size, false, jobs);
            else
                cut(h, g, v.size, true, jobs);
        }
    if (!a.misfits().empty()) jobs.push_back({static_cast<std::uint32_t>(a.grids()), 0, 0, 0, false});
    if (!b.misfits().empty()) jobs.push_back({static_cast<std::uint32_t>(b.grids()), 0, 0, 0, true});
    return jobs;
}

void find_pairs_within(const BoxGrids& set, const PairJob& job, std::vector<Pair>& out) {
    if (job.home < set.grids()) {
        broad_phase::PairBuffer buffer(out);
        if (job.home == job.grid)
            broad_phase::pairs_within(set.grid(job.home), static_cast<std::uint32_t>(job.begin),
                                      static_cast<std::uint32_t>(job.end), buffer);
        else
            broad_phase::pairs_between(set.grid(job.home), job.begin, job.end, set.grid(job.grid), true, buffer);
        return;
    }
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
    if (job.home < homes.grids()) {
        broad_phase::PairBuffer buffer(out);
        broad_phase::pairs_between(homes.grid(job.home), job.begin, job.end, others.grid(job.grid), false, buffer);
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
