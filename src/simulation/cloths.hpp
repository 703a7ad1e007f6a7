#pragma once
#include <quadrat/simulation/simulation.hpp>
namespace quadrat::simulation {
struct Cloths {
    template <class Fn>
    void archive(Fn&&) {}
    bool empty() const { return true; }
    ClothSurface surface(std::size_t) const { return {}; }
};
}  // namespace quadrat::simulation
