// Which grains are near each other and near walls, found by a HashGridHierarchy some way ahead and kept until a grain
// has used up its margin. Everything here follows from the positions at the search alone, so that a run that is
// continued has the same order of contacts as one that was never stopped:
//
//   places   grains in the order of their cells along a Z curve, so that neighbours lie near each other in memory
//   pairs    by the place of the grain of the smaller number, then by what it meets
//   colours  greedily in that order: no two pairs of a colour have a moving grain in common
#pragma once

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/radix_sort.hpp"
#include "simulation/grains/solver/rows.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {

class Pairs {
  public:
    /// A grain, and a grain, plane or triangle: b counts grains by place, then planes, then triangles of walls.
    struct Near {
        std::uint32_t a, b;
    };
    /// Pairs [begin, end) of one colour and kind. Rows and memories of that kind begin at `first`; the first `rows` of
    /// them are in use.
    struct Chunk {
        std::uint32_t begin, end, first, rows;
        PairKind kind;
    };

    explicit Pairs(Executor* executor) : executor_(executor), sorter_(executor) {}

    /// Whether all that can touch within the next dt is known.
    [[nodiscard]] bool cover(const World& world, double dt) const;
    /// Finds everything anew; what pairs remember goes with them.
    void search(const World& world, double dt);
    /// Grains or walls were added or moved by hand: cover() is false until the next search.
    void forget() { known_ = false; }

    [[nodiscard]] std::span<const std::uint32_t> ids() const { return {id_.data(), id_.size()}; }
    [[nodiscard]] std::uint32_t place(std::size_t id) const { return place_[id]; }
    [[nodiscard]] std::span<const Near> list() const { return {list_.data(), list_.size()}; }
    /// All chunks, in the order of a solve.
    [[nodiscard]] std::span<Chunk> chunks() { return chunks_; }
    [[nodiscard]] std::span<const Chunk> chunks() const { return chunks_; }
    /// A solve is a row of stages. Tasks of one stage touch different grains: the blocks first, then each colour
    /// between blocks. A task is a row of chunks that follow each other.
    [[nodiscard]] std::size_t stages() const { return stage_begin_.size() - 1; }
    [[nodiscard]] std::size_t tasks(std::size_t stage) const { return stage_begin_[stage + 1] - stage_begin_[stage]; }
    [[nodiscard]] std::span<const Chunk> task(std::size_t stage, std::size_t k) const {
        const std::size_t t = stage_begin_[stage] + k;
        return std::span(chunks_).subspan(task_begin_[t], task_begin_[t + 1] - task_begin_[t]);
    }
    /// How many rows of the kind there is room for: chunks begin at multiples of eight.
    [[nodiscard]] std::size_t room(PairKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] std::uint64_t searches() const { return searches_; }

    std::vector<Memory> ball_memory, wall_memory;
    std::vector<HullMemory> hull_memory;

  private:
    static constexpr std::uint32_t block = 1024;      ///< places: 64 KiB of velocities and ways
    static constexpr std::uint32_t chunk_size = 512;  ///< of pairs between blocks
    static constexpr unsigned most_colours = 63;      ///< the next holds what is left, which is solved in order
    /// What an old pair remembers, by the number of its first grain.
    struct Old {
        std::uint64_t partner;
        std::uint32_t at;
        PairKind kind;
    };

    void find(const World& world, double dt);
    void find_planes(const World& world);
    void find_triangles(const World& world, double dt);
    void order(const World& world);
    void colour_all(const World& world);
    void colour(std::span<const Near> pairs, std::vector<std::uint64_t>& used, std::uint32_t first_place,
                const World& world, std::vector<std::uint8_t>& bins) const;
    void lay_out(std::span<const Near> pairs, std::span<const std::uint8_t> bins, bool inside);
    void collect_old(const World& world);
    void take_over(const World& world);
    [[nodiscard]] PairKind kind(const Near& pair, const World& world) const;
    [[nodiscard]] std::uint64_t partner(const Near& pair) const;

    Executor* executor_;
    base::RadixSorter sorter_;
    bool known_ = false;
    std::uint64_t searches_ = 0;
    std::size_t grains_ = 0, planes_ = 0, laid_out_ = 0;
    double walls_until_ = 0;
    std::size_t counts_[3] = {0, 0, 0};

    std::unique_ptr<HashGridHierarchy<3, double>> grid_;
    bool grid_of_spheres_ = true;
    std::vector<Sphere<3, double>> spheres_;
    std::vector<Box3d> boxes_;
    std::vector<Pair> found_;     ///< by number; walls as `partner` says
    std::vector<double> margin_;  ///< by number
    std::vector<Vec3d> seen_;     ///< positions at the search
    base::Array<std::uint32_t> id_, place_;
    std::vector<Near> sorted_;
    base::Array<Near> list_;
    std::vector<Chunk> chunks_;
    std::vector<std::uint32_t> task_begin_ = {0}, stage_begin_ = {0};
    std::vector<std::uint32_t> row_begin_;  ///< of sorted_, by place
    std::vector<std::uint32_t> old_begin_;
    std::vector<Old> old_;
    std::vector<Memory> old_balls_, old_walls_;
    std::vector<HullMemory> old_hulls_;
};

/// The box of a grain.
[[nodiscard]] Box3d box_of(const World& world, std::size_t i, double margin);

}  // namespace quadrat::simulation::grains
