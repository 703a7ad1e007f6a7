#include "simulation/grains/pairs.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "base/assert.hpp"
#include "base/parallel.hpp"

namespace quadrat::simulation::grains {
namespace {

constexpr double steps_ahead = 4;   ///< of margins of fast grains and walls
constexpr double most_ahead = 0.2;  ///< in radii: more would give every grain too many neighbours
constexpr std::size_t grain = 4096;

// How far a grain may come in dt, metres.
double travel(const World& world, std::size_t i, double dt) {
    const V3d v = vector(world.velocity[i]), g = vector(world.options.gravity);
    double speed = length(v);
    if (!world.is_sphere(i)) speed += length(vector(world.spin[i])) * world.reach(i);
    return world.asleep[i] ? 0 : speed * dt + length(g) * dt * dt;
}

// The largest speed of a point of a wall's triangle.
double speed_of(const World& world, const WallTriangle& t) {
    const GrainWall& wall = world.walls[t.wall];
    double far = 0;
    for (const V3d& c : t.corners) far = std::max(far, length(c));
    return length(vector(wall.velocity)) + length(vector(wall.angular_velocity)) * far;
}

// Spreads the low 21 bits to every third place.
std::uint64_t spread(std::uint64_t x) {
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

}  // namespace

Box3d box_of(const World& world, std::size_t i, double margin) {
    const V3d at = vector(world.position[i]);
    V3d half = {0, 0, 0};
    const Form& form = world.forms[world.form[i]];
    if (form.shape != GrainShape::sphere) {
        const Turn t = turn(world.orientation[i]);
        for (const V3d& c : form.body.corners) {
            const V3d p = t(c);
            half = {std::max(half.x, std::abs(p.x)), std::max(half.y, std::abs(p.y)), std::max(half.z, std::abs(p.z))};
        }
    }
    const double more = form.body.radius + margin;
    half += V3d{more, more, more};
    return {plain(at - half), plain(at + half)};
}

bool Pairs::cover(const World& world, double dt) const {
    if (!known_ || grains_ != world.size()) return false;
    if (!world.triangles.empty() && world.time + dt > walls_until_) return false;
    return base::parallel_reduce(
               executor_, world.size(), grain, 1,
               [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                       if (length(vector(world.position[i]) - vector(seen_[i])) + travel(world, i, dt) > margin_[i])
                           return 0;
                   return 1;
               },
               [](int a, int b) { return a & b; }) != 0;
}

void Pairs::search(const World& world, double dt) {
    ++searches_;
    collect_old(world);
    find(world, dt);
    order(world);
    colour_all(world);
    take_over(world);
    known_ = true;
}

void Pairs::find(const World& world, double dt) {
    const std::size_t n = world.size();
    margin_.resize(n);
    seen_ = world.position;
    const bool as_spheres = world.all_spheres;
    if (as_spheres)
        spheres_.resize(n);
    else
        boxes_.resize(n);
    base::parallel_for(executor_, n, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const double way = travel(world, i, dt), reach = world.reach(i);
            margin_[i] =
                world.options.margin * reach + std::max(1.001 * way, std::min(steps_ahead * way, most_ahead * reach));
            if (as_spheres)
                spheres_[i] = {world.position[i], reach + margin_[i]};
            else
                boxes_[i] = box_of(world, i, margin_[i]);
        }
    });
    if (!grid_ || grid_->slots() != n || grid_of_spheres_ != as_spheres) {
        grid_ = std::make_unique<HashGridHierarchy<3, double>>(HashGridOptions{.executor = executor_});
        grid_of_spheres_ = as_spheres;
        if (as_spheres)
            grid_->insert(std::span<const Sphere<3, double>>(spheres_));
        else
            grid_->insert(std::span<const Box3d>(boxes_));
    } else if (as_spheres) {
        grid_->update(std::span<const Sphere<3, double>>(spheres_));
    } else {
        grid_->update(std::span<const Box3d>(boxes_));
    }
    grid_->find_pairs(found_);
    grains_ = n;
    planes_ = world.planes.size();
    find_planes(world);
    find_triangles(world, dt);
}

void Pairs::find_planes(const World& world) {
    std::vector<std::vector<Pair>> parts(base::chunk_count(grains_, grain));
    base::parallel_for(executor_, grains_, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t p = 0; p < planes_; ++p) {
                const GrainPlane& plane = world.planes[p];
                const double height = dot(vector(plane.normal), vector(world.position[i])) - plane.offset;
                if (height <= world.reach(i) + margin_[i])
                    parts[begin / grain].emplace_back(static_cast<std::uint32_t>(i),
                                                      static_cast<std::uint32_t>(grains_ + p));
            }
    });
    for (const auto& part : parts) found_.insert(found_.end(), part.begin(), part.end());
}

void Pairs::find_triangles(const World& world, double dt) {
    if (world.triangles.empty()) return;
    const double ahead = 2 * steps_ahead * dt;
    walls_until_ = world.time + ahead;
    std::vector<Box3d> boxes(world.triangles.size());
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        const WallTriangle& t = world.triangles[k];
        const GrainWall& wall = world.walls[t.wall];
        const Turn turned = turn(wall.orientation);
        const double more = 1.001 * speed_of(world, t) * ahead;
        for (int corner = 0; corner < 3; ++corner) {
            const Vec3d p = plain(vector(wall.position) + turned(t.corners[corner]));
            for (int axis = 0; axis < 3; ++axis) {
                Box3d& b = boxes[k];
                b.lo[axis] = corner ? std::min(b.lo[axis], p[axis] - more) : p[axis] - more;
                b.hi[axis] = corner ? std::max(b.hi[axis], p[axis] + more) : p[axis] + more;
            }
        }
    }
    HashGridHierarchy<3, double> walls({.executor = executor_});
    walls.insert(std::span<const Box3d>(boxes));
    std::vector<Pair> near;
    find_pairs(*grid_, walls, near);
    const auto first = static_cast<std::uint32_t>(grains_ + planes_);
    for (const Pair& p : near) found_.emplace_back(p.first, first + p.second);
}

void Pairs::order(const World& world) {
    id_.resize_discard(grains_);
    place_.resize_discard(grains_);
    base::Array<std::uint64_t> keys(grains_);
    Vec3d lo = grains_ ? world.position[0] : Vec3d{};
    double cell = 0;
    for (std::size_t i = 0; i < grains_; ++i) {
        for (int k = 0; k < 3; ++k) lo[k] = std::min(lo[k], world.position[i][k]);
        cell = std::max(cell, 2 * world.reach(i));
    }
    for (std::size_t i = 0; i < grains_; ++i) {
        keys[i] = 0;
        for (int k = 0; k < 3; ++k)
            keys[i] |= spread(static_cast<std::uint64_t>(std::min(2e6, (world.position[i][k] - lo[k]) / cell))) << k;
        id_[i] = static_cast<std::uint32_t>(i);
    }
    sorter_.sort(std::span<std::uint64_t>(keys), std::span<std::uint32_t>(id_));
    for (std::size_t p = 0; p < grains_; ++p) place_[id_[p]] = static_cast<std::uint32_t>(p);
    // Rows by the place of the first, each by its second.
    std::vector<std::uint32_t>& begin = row_begin_;
    begin.assign(grains_ + 1, 0);
    for (const Pair& p : found_) ++begin[place_[p.first] + 1];
    for (std::size_t p = 0; p < grains_; ++p) begin[p + 1] += begin[p];
    sorted_.resize(found_.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (const Pair& p : found_) {
        const std::uint32_t a = place_[p.first];
        sorted_[next[a]++] = {a, p.second < grains_ ? place_[p.second] : p.second};
    }
    base::parallel_for(executor_, grains_, grain, [&](std::size_t from, std::size_t to) {
        for (std::size_t p = from; p < to; ++p)
            std::sort(sorted_.begin() + begin[p], sorted_.begin() + begin[p + 1],
                      [](const Near& x, const Near& y) { return x.b < y.b; });
    });
}

PairKind Pairs::kind(const Near& pair, const World& world) const {
    if (!world.all_spheres && !world.is_sphere(id_[pair.a])) return PairKind::hulls;
    if (pair.b >= grains_) return PairKind::ball_wall;
    return world.all_spheres || world.is_sphere(id_[pair.b]) ? PairKind::balls : PairKind::hulls;
}

// Bins are 3 * colour + kind. used: which colours each place has, from first_place on.
void Pairs::colour(std::span<const Near> pairs, std::vector<std::uint64_t>& used, std::uint32_t first_place,
                   const World& world, std::vector<std::uint8_t>& bins) const {
    bins.resize(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const Near& p = pairs[k];
        const bool two = p.b < grains_;
        const std::uint64_t taken = used[p.a - first_place] | (two ? used[p.b - first_place] : 0);
        const auto c = std::min(static_cast<unsigned>(std::countr_one(taken)), most_colours);
        bins[k] = static_cast<std::uint8_t>(3 * c + static_cast<unsigned>(kind(p, world)));
        const std::uint64_t bit = std::uint64_t{1} << c;
        used[p.a - first_place] |= bit;
        if (two) used[p.b - first_place] |= bit;
    }
}

void Pairs::colour_all(const World& world) {
    const std::size_t blocks = base::chunk_count(grains_, block);
    struct Part {
        std::vector<Near> inside, outside;
        std::vector<std::uint8_t> bins;
    };
    std::vector<Part> parts(blocks);
    base::run_tasks(executor_, blocks, [&](std::size_t b) {
        const std::size_t from = b * block, to = std::min<std::size_t>(grains_, from + block);
        Part& part = parts[b];
        for (std::uint32_t k = row_begin_[from]; k < row_begin_[to]; ++k) {
            const Near& p = sorted_[k];
            (p.b >= grains_ || (p.b >= from && p.b < to) ? part.inside : part.outside).push_back(p);
        }
        std::vector<std::uint64_t> used(block, 0);
        colour(part.inside, used, static_cast<std::uint32_t>(from), world, part.bins);
    });
    list_.resize_discard(sorted_.size());
    laid_out_ = 0;
    chunks_.clear();
    task_begin_.assign(1, 0);
    stage_begin_.assign(1, 0);
    counts_[0] = counts_[1] = counts_[2] = 0;
    std::vector<Near> outside;
    for (const Part& part : parts) {
        lay_out(part.inside, part.bins, true);
        outside.insert(outside.end(), part.outside.begin(), part.outside.end());
    }
    stage_begin_.push_back(static_cast<std::uint32_t>(task_begin_.size() - 1));
    std::vector<std::uint64_t> used(grains_, 0);
    std::vector<std::uint8_t> bins;
    colour(outside, used, 0, world, bins);
    lay_out(outside, bins, false);
}

// Puts pairs into the list, by their bins. Inside of a block all are one task; between blocks each colour is a stage,
// and of the last, whose pairs do share grains, all are one task.
void Pairs::lay_out(std::span<const Near> pairs, std::span<const std::uint8_t> bins, bool inside) {
    constexpr std::size_t most = 3 * (most_colours + 1);
    std::uint32_t begin[most + 1] = {};
    for (const std::uint8_t bin : bins) ++begin[bin + 1u];
    begin[0] = static_cast<std::uint32_t>(laid_out_);
    for (std::size_t k = 0; k < most; ++k) begin[k + 1] += begin[k];
    std::uint32_t next[most];
    std::copy_n(begin, most, next);
    for (std::size_t k = 0; k < pairs.size(); ++k) list_[next[bins[k]]++] = pairs[k];
    laid_out_ = begin[most];
    for (unsigned c = 0; c <= most_colours; ++c) {
        if (begin[3 * c] == begin[3 * c + 3]) continue;
        for (unsigned k = 0; k < 3; ++k)
            for (std::uint32_t at = begin[3 * c + k]; at < begin[3 * c + k + 1];) {
                const bool whole = inside || c == most_colours;
                const std::uint32_t end =
                    whole ? begin[3 * c + k + 1] : std::min(at + chunk_size, begin[3 * c + k + 1]);
                chunks_.push_back({at, end, static_cast<std::uint32_t>(counts_[k]), 0, static_cast<PairKind>(k)});
                counts_[k] += (end - at + 7) / 8 * 8;
                at = end;
                if (!whole) task_begin_.push_back(static_cast<std::uint32_t>(chunks_.size()));
            }
        if (inside) continue;
        if (c == most_colours) task_begin_.push_back(static_cast<std::uint32_t>(chunks_.size()));
        stage_begin_.push_back(static_cast<std::uint32_t>(task_begin_.size() - 1));
    }
    if (inside && task_begin_.back() != chunks_.size())
        task_begin_.push_back(static_cast<std::uint32_t>(chunks_.size()));
}

std::uint64_t Pairs::partner(const Near& pair) const {
    if (pair.b < grains_) return id_[pair.b];
    const std::uint64_t wall = pair.b - grains_;
    return wall < planes_ ? std::uint64_t{1} << 32 | wall : std::uint64_t{2} << 32 | (wall - planes_);
}

void Pairs::collect_old(const World& world) {
    old_begin_.assign(world.size() + 1, 0);
    old_.clear();
    const auto each = [&](auto&& fn) {
        for (const Chunk& chunk : chunks_)
            for (std::uint32_t k = chunk.begin; k < chunk.end; ++k) {
                const std::uint32_t at = chunk.first + (k - chunk.begin);
                const bool any = chunk.kind == PairKind::balls       ? ball_memory[at].push > 0
                                 : chunk.kind == PairKind::ball_wall ? wall_memory[at].push > 0
                                                                     : hull_memory[at].count > 0;
                if (any) fn(list_[k], at, chunk.kind);
            }
    };
    each([&](const Near& p, std::uint32_t, PairKind) { ++old_begin_[id_[p.a] + 1u]; });
    for (std::size_t i = 0; i < world.size(); ++i) old_begin_[i + 1] += old_begin_[i];
    old_.resize(old_begin_.back());
    std::vector<std::uint32_t> next(old_begin_.begin(), old_begin_.end() - 1);
    each([&](const Near& p, std::uint32_t at, PairKind kind) { old_[next[id_[p.a]]++] = {partner(p), at, kind}; });
    old_balls_.swap(ball_memory);
    old_walls_.swap(wall_memory);
    old_hulls_.swap(hull_memory);
}

void Pairs::take_over(const World& world) {
    ball_memory.assign(room(PairKind::balls), {});
    wall_memory.assign(room(PairKind::ball_wall), {});
    hull_memory.assign(room(PairKind::hulls), {});
    QUADRAT_ASSERT(old_begin_.size() == world.size() + 1);
    base::run_tasks(executor_, chunks_.size(), [&](std::size_t c) {
        const Chunk& chunk = chunks_[c];
        for (std::uint32_t k = chunk.begin; k < chunk.end; ++k) {
            const std::uint32_t id = id_[list_[k].a], at = chunk.first + (k - chunk.begin);
            if (old_begin_[id] == old_begin_[id + 1u]) continue;
            const std::uint64_t other = partner(list_[k]);
            for (std::uint32_t o = old_begin_[id]; o < old_begin_[id + 1u]; ++o) {
                if (old_[o].partner != other || old_[o].kind != chunk.kind) continue;
                if (chunk.kind == PairKind::balls) ball_memory[at] = old_balls_[old_[o].at];
                if (chunk.kind == PairKind::ball_wall) wall_memory[at] = old_walls_[old_[o].at];
                if (chunk.kind == PairKind::hulls) hull_memory[at] = old_hulls_[old_[o].at];
            }
        }
    });
}

}  // namespace quadrat::simulation::grains
