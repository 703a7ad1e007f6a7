// The table of --method for boxes: one adapter per structure behind one small interface.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quadrat::cli {

inline constexpr std::array pair_methods = {"brute", "uniform", "multilevel", "hsh", "hhg", "group"};

/// One structure that answers what touches what, of one set or between two. The first call of build inserts, later ones
/// move the same boxes.
template <int D, class T>
class PairFinder {
  public:
    virtual ~PairFinder() = default;
    virtual void build(std::span<const Box<D, T>> boxes) = 0;
    virtual void build(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b) = 0;
    virtual void find(std::vector<Pair>& out) = 0;
    /// Box tests made by the last call of find.
    [[nodiscard]] virtual std::uint64_t tested() const = 0;
};

struct PairSettings {
    Executor* executor = nullptr;
    std::uint64_t max_bytes = 0;
    Watch watch = {};
};

/// The method that "auto" stands for; any other name is itself.
[[nodiscard]] std::string resolve_pair_method(const std::string& method);

/// method is one of pair_methods.
template <int D, class T>
[[nodiscard]] std::unique_ptr<PairFinder<D, T>> make_pair_finder(const std::string& method,
                                                                 const PairSettings& settings);

}  // namespace quadrat::cli
