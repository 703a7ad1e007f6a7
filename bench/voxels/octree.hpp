// OpenVDB's tree of sparse values behind a small door: its headers take a minute to compile, so they stay in one file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace quadrat::bench {

using Cell = std::array<std::int32_t, 3>;

class Octree {
  public:
    Octree(std::span<const Cell> cells, std::span<const std::uint32_t> values);
    ~Octree();

    /// The sum of the values at the cells, through one accessor; absent ones count 0.
    [[nodiscard]] std::uint64_t sum(std::span<const Cell> cells) const;
    [[nodiscard]] std::uint64_t bytes() const;

  private:
    struct Tree;
    std::unique_ptr<Tree> tree_;
};

}  // namespace quadrat::bench
