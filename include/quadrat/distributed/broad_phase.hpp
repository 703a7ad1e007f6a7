// What touches what, on many ranks. Each rank holds its own boxes and as ghosts those of others that reach its leaf,
// searches them with a HashGridHierarchy, and reports what is its to report.
//
// Each pair once: the componentwise maximum of the two lower corners lies in both boxes if they overlap. So both boxes
// are known on the rank to whose leaf that point belongs, and that rank reports the pair. Huge and infinite boxes need
// no rule of their own.
#pragma once

#include <quadrat/distributed/decomposition.hpp>
#include <quadrat/geometry.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

/// Two bodies by their ids, first < second.
struct IdPair {
    std::uint64_t first;
    std::uint64_t second;

    friend constexpr auto operator<=>(const IdPair&, const IdPair&) = default;
};

/// Boxes, or spheres, and half-spaces, spread over the ranks of a communicator. On each rank bodies have local indices:
/// own ones from 0, then ghosts, then all half-spaces; id(i) is the same on every rank. If a call throws, the structure
/// on every rank holds what it held before. Not to be called by several threads at a time.
template <int D, class T>
class DistributedBroadPhase {
  public:
    using Options = DecompositionOptions<D, T>;  ///< max_bytes also limits the pairs that a rank finds

    explicit DistributedBroadPhase(MPI_Comm comm, const Options& options = {});
    ~DistributedBroadPhase();
    DistributedBroadPhase(DistributedBroadPhase&&) noexcept;
    DistributedBroadPhase& operator=(DistributedBroadPhase&&) noexcept;

    /// Collective. Takes the place of all boxes or spheres; each rank gives any of them.
    /// ids: one per body, no two alike on all ranks together (not checked); empty on all ranks: 0, 1, 2, ... in the
    /// order of the ranks.
    /// Returns where they went: apply() it to your other arrays. Throws Error{bad_value} naming rank and position.
    Migration insert(std::span<const Box<D, T>> boxes, std::span<const std::uint64_t> ids = {});
    Migration insert(std::span<const Sphere<D, T>> spheres, std::span<const std::uint64_t> ids = {});

    /// Collective. New positions of the own() bodies, in their order; any length of jump. Own bodies may go to other
    /// ranks and others may come: apply() what it returns to your arrays, `boxes` included. Throws Error{bad_shape} if
    /// the number is not own() on one rank.
    Migration update(std::span<const Box<D, T>> boxes);
    Migration update(std::span<const Sphere<D, T>> spheres);

    /// Collective. Takes the place of all half-spaces; each rank gives any of them, all ranks then know all. They meet
    /// boxes as in HashGridHierarchy, and one another; they do not go with spheres (Error{bad_shape}).
    /// ids: one per half-space, not used by any body.
    void set_half_spaces(std::span<const HalfSpace<D, T>> half_spaces, std::span<const std::uint64_t> ids);

    /// Collective. Refills `out` with the overlapping pairs that this rank reports, as local indices, first < second.
    /// Each pair is on exactly one rank. A pair of a box and a half-space is on the rank that owns the box. Throws
    /// Error{too_large} on all ranks if one finds more than max_bytes, pairs that another reports included.
    void find_pairs(std::vector<Pair>& out) const;
    /// Collective. The same with ids.
    void find_pairs(std::vector<IdPair>& out) const;

    [[nodiscard]] std::size_t own() const;
    /// Own bodies and ghosts.
    [[nodiscard]] std::size_t held() const;
    /// held() and the half-spaces: the limit of local indices.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::uint64_t id(std::uint32_t index) const;
    [[nodiscard]] std::span<const std::uint64_t> ids() const;
    /// For sending your own arrays to the ghosts and sums back; valid until the next insert or update.
    [[nodiscard]] const Halo& halo() const;
    [[nodiscard]] const Decomposition<D, T>& decomposition() const;
    [[nodiscard]] DecompositionStats stats() const;
    [[nodiscard]] const DistributedSeconds& seconds() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Collective. All overlapping pairs of the boxes of all ranks, each on exactly one rank, in no particular order. The
/// id of a box is its position in the boxes of rank 0, rank 1, ... one after the other.
template <int D, class T>
[[nodiscard]] std::vector<IdPair> find_pairs(MPI_Comm comm, std::span<const Box<D, T>> boxes,
                                             const DecompositionOptions<D, T>& options = {}) {
    DistributedBroadPhase<D, T> phase(comm, options);
    (void)phase.insert(boxes);
    std::vector<IdPair> pairs;
    phase.find_pairs(pairs);
    return pairs;
}

}  // namespace quadrat
