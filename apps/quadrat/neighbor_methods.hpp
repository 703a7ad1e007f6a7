// The table of --method for points: one adapter per structure behind one small interface.
#pragma once

#include <quadrat/neighbors/cell_index.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace quadrat::cli {

inline constexpr std::array neighbor_methods = {"brute", "uniform", "extended", "hsh", "cell-index"};

template <int D, class T>
struct NeighborSettings {
    Executor* executor = nullptr;
    std::uint64_t max_bytes = 0;
    T radius = 0;
    std::span<const T> radii = {};  ///< one per point, instead of radius
    RadiusRule rule = RadiusRule::own;
    Periodic<D, T> periodic = {};
    std::uint32_t k = 0;  ///< only the k nearest; 0: all
    T limit = 0;          ///< how far the k nearest may be; 0: any distance
    T skin = 0;
    bool half = false;
    bool self = false;
    bool distances = false;
    bool vectors = false;
    bool shifts = false;
    bool searched_elsewhere = false;  ///< rows are those of queries
    std::span<const Vec<D, T>> queries = {};
    std::span<const std::uint8_t> groups = {};     ///< of the points
    std::span<const std::uint64_t> searches = {};  ///< which groups each group sees
    unsigned subdivision = 0;
    Watch watch = {};
};

/// One structure that answers what is near what.
template <int D, class T>
class NeighborFinder {
  public:
    virtual ~NeighborFinder() = default;
    virtual void build(std::span<const Vec<D, T>> points) = 0;
    /// The same points after a step.
    virtual void update(std::span<const Vec<D, T>> points) { build(points); }
    virtual void find(NeighborList& out) = 0;
    /// Distance tests made by the last call of find.
    [[nodiscard]] virtual std::uint64_t tested() const = 0;
};

/// The method that "auto" stands for; any other name is itself.
[[nodiscard]] std::string resolve_neighbor_method(const std::string& method);

/// method is one of neighbor_methods; throws UsageError if it cannot do what the settings ask for.
template <int D, class T>
[[nodiscard]] std::unique_ptr<NeighborFinder<D, T>> make_neighbor_finder(const std::string& method,
                                                                         const NeighborSettings<D, T>& settings);

}  // namespace quadrat::cli
