// One step of a world: pairs, contacts, sub-steps, sleep.
#pragma once

#include <quadrat/simulation/grains.hpp>

#include <vector>

#include "simulation/grains/pairs.hpp"
#include "simulation/grains/solver/rows.hpp"
#include "simulation/grains/solver/solve.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat::simulation::grains {

class Stepper {
  public:
    explicit Stepper(Executor* executor) : pairs(executor) {}

    /// Throws as Grains::step().
    void step(World& world, double dt);
    void find_contacts(const World& world, std::vector<GrainContact>& out) const;

    /// Contacts, those with a force, and the deepest overlap.
    void count(GrainStats& stats) const;

    Pairs pairs;
    GrainSeconds seconds;
    std::uint64_t islands = 0;

  private:
    [[nodiscard]] std::pair<GrainContact::With, std::uint32_t> second(const World& world, std::uint32_t b) const;
    void look(World& world, double dt, double sub_step);
    void solve(const World& world, double dt, std::uint32_t parts);
    void spring(const World& world, double dt, std::uint32_t parts);
    void collide(const World& world, const SubStep& sub, double since);
    void begin(const World& world, const SubStep& sub, bool first);
    void move(const World& world, const SubStep& sub);
    void keep(const World& world);
    void finish(World& world, double dt);
    void fall_asleep(World& world, double dt);
    template <class Work>
    void in_stages(const World& world, Work&& work);
    template <class Row>
    std::span<Row> rows_of(base::Array<Row>& rows, const Pairs::Chunk& chunk) {
        return std::span<Row>(rows.data() + chunk.first, chunk.rows);
    }
    BallRows* balls_of(const Pairs::Chunk& chunk) { return rows_.balls.data() + chunk.first / 8; }
    RollRows* ball_rolls_of(const World& world, const Pairs::Chunk& chunk) {
        return world.rolls ? rows_.ball_rolls.data() + chunk.first / 8 : nullptr;
    }
    std::span<RollRow> rolls_of(const World& world, base::Array<RollRow>& rolls, const Pairs::Chunk& chunk) {
        return world.rolls ? rows_of(rolls, chunk) : std::span<RollRow>();
    }

    Bodies bodies_;
    Rows rows_;
    std::vector<std::uint32_t> wakes_;
    std::vector<std::uint32_t> root_;  ///< of islands
    double last_sub_step_ = 0;
    double since_look_ = 0;  ///< seconds since islands were looked at
};

}  // namespace quadrat::simulation::grains
