// What touches what, on many ranks. Each rank holds its own boxes and as ghosts those of others that reach its leaf,
// searches them with a HashGridHierarchy, and reports what is its to report.
//
// Each pair once: the componentwise maximum of the two lower corners lies in both boxes if they overlap. So both boxes
// are known on the rank to whose leaf that point belongs, and that rank reports the pair. Huge and infinite boxes need
// no rule of their own.
//
//          rank 0 : rank 1
//     +-----------:--+           The centre of a is on rank 0, that of b on rank 1, and each is a ghost on the other
//     | a     +---:--+----+      rank. Both ranks find the pair. x is the maximum of the lower corners: it belongs to
//     |       |   :  |  b |      rank 0, which reports it.
//     +-------x---:--+    |
//             +---:-------+
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
struct GlobalPair {
    std::uint64_t first;
    std::uint64_t second;

    /// By first, then by second: sorted lists of all ranks can be compared with a serial one.
    friend constexpr auto operator<=>(const GlobalPair&, const GlobalPair&) = default;
};

/// Boxes, or spheres, and half-spaces, spread over the ranks of a communicator. On each rank bodies have local indices:
/// own ones from 0, then ghosts, then all half-spaces; id(i) is the same on every rank. Where one machine is enough
/// HashGridHierarchy does more: single edits, filters, queries. Compiled for D = 2, 3 and T = float, double.
///
///     DistributedBroadPhase<3, float> phase(MPI_COMM_WORLD);
///     phase.insert(std::span<const Box3f>(boxes)).apply(boxes);  // now as many as own()
///     std::vector<GlobalPair> pairs;
///     phase.find_pairs(pairs);
///
/// The set of pairs of all ranks together is that of one HashGridHierarchy, whatever their number; local indices and
/// the order are not. Holds a copy of own bodies and ghosts, and a HashGridHierarchy over them.
///
/// If a call throws, the structure on every rank holds what it held before; new cuts may have been made. Not to be
/// called by several threads at a time, not even its const members that are collective. Destroy it before MPI_Finalize.
template <int D, class T>
class DistributedBroadPhase {
  public:
    /// max_bytes also limits the pairs that a rank finds. `periodic` has no meaning here.
    using Options = DecompositionOptions<D, T>;

    /// Collective. No bodies. Duplicates the communicator; throws as Decomposition's constructor.
    explicit DistributedBroadPhase(MPI_Comm comm, const Options& options = {});
    ~DistributedBroadPhase();
    DistributedBroadPhase(DistributedBroadPhase&&) noexcept;
    DistributedBroadPhase& operator=(DistributedBroadPhase&&) noexcept;

    /// Collective. Takes the place of all boxes or spheres; each rank gives any of them, also none. Half-spaces stay.
    /// Returns where they went: apply() it to your arrays, `boxes` included. Costs Decomposition::update() and halo(),
    /// messages for what moves and for ghosts, and a bulk update of what the rank then holds. Invalidates halo() and
    /// all local indices. boxes: no NaN, lo <= hi, or Error{bad_value} names rank and position; bounds may be infinite.
    /// At most 2^32 - 2 per rank, ghosts included, or Error{too_large}. ids: one per body, or Error{bad_shape}, no two
    /// alike on all ranks together (not checked); empty on all ranks: 0, 1, 2, ... in the order of the ranks.
    Migration insert(std::span<const Box<D, T>> boxes, std::span<const std::uint64_t> ids = {});
    /// The same for spheres, which are pairs if |a - b|^2 <= (ra + rb)^2, as in HashGridHierarchy.
    /// spheres: finite, radius >= 0, or Error{bad_value}; Error{bad_shape} if there are half-spaces.
    Migration insert(std::span<const Sphere<D, T>> spheres, std::span<const std::uint64_t> ids = {});

    /// Collective. New positions of the own() bodies, in their order; any length of jump. Own bodies may go to other
    /// ranks and others may come: apply() what it returns to your arrays, `boxes` included. Ids stay with their bodies.
    /// Costs, throws and invalidates as insert(); and Error{bad_shape} if the number is not own() on one rank, or if
    /// the bodies are spheres.
    Migration update(std::span<const Box<D, T>> boxes);
    /// The same for spheres, if the bodies are spheres.
    Migration update(std::span<const Sphere<D, T>> spheres);

    /// Collective. Takes the place of all half-spaces; each rank gives any of them, all ranks then know all. They meet
    /// boxes as in HashGridHierarchy, and one another; they do not go with spheres (Error{bad_shape}). Meant for a few:
    /// each is tested against every body of a rank. Local indices of bodies stay; none on any rank removes them.
    /// half_spaces: finite, with a normal that is not zero, or Error{bad_value} names rank and position.
    /// ids: one per half-space, or Error{bad_shape}; not used by any body, which is not checked.
    void set_half_spaces(std::span<const HalfSpace<D, T>> half_spaces, std::span<const std::uint64_t> ids);

    /// Collective, but without messages beside the agreement on errors. Refills `out` with the overlapping pairs that
    /// this rank reports, as local indices, first < second; both may be ghosts. Each pair is on exactly one rank. A
    /// pair of a box and a half-space is on the rank that owns the box, a pair of half-spaces on rank 0. Cost: the
    /// search of own bodies and ghosts, and a test per pair. Throws Error{too_large} on all ranks if one finds more
    /// than max_bytes, pairs that another reports included; what `out` holds is then not specified.
    void find_pairs(std::vector<Pair>& out) const;
    /// Collective. The same with ids, the smaller one first.
    void find_pairs(std::vector<GlobalPair>& out) const;

    // What follows is local and O(1).

    /// Bodies that this rank owns.
    [[nodiscard]] std::size_t own() const;
    /// Own bodies and ghosts.
    [[nodiscard]] std::size_t held() const;
    /// held() and the half-spaces: the limit of local indices.
    [[nodiscard]] std::size_t size() const;
    /// The id of a body or half-space.
    /// index: a local index below size(), which is asserted.
    [[nodiscard]] std::uint64_t id(std::uint32_t index) const;
    /// All size() of them, by local index. Valid until the next call that is not const.
    [[nodiscard]] std::span<const std::uint64_t> ids() const;
    /// For sending your own arrays to the ghosts and sums back; valid until the next insert or update.
    [[nodiscard]] const Halo& halo() const;
    /// The cuts, and the communicator.
    [[nodiscard]] const Decomposition<D, T>& decomposition() const;
    /// Of the last insert or update.
    [[nodiscard]] DecompositionStats stats() const;
    /// How long the last insert or update and the last find_pairs took on this rank.
    [[nodiscard]] const DistributedSeconds& seconds() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Collective. All overlapping pairs of the boxes of all ranks, each on exactly one rank, in no particular order. The
/// id of a box is its position in the boxes of rank 0, rank 1, ... one after the other. For one question; who asks
/// again after a step keeps a DistributedBroadPhase, whose arguments and errors these are.
template <int D, class T>
[[nodiscard]] std::vector<GlobalPair> find_pairs(MPI_Comm comm, std::span<const Box<D, T>> boxes,
                                                 const DecompositionOptions<D, T>& options = {}) {
    DistributedBroadPhase<D, T> phase(comm, options);
    (void)phase.insert(boxes);
    std::vector<GlobalPair> pairs;
    phase.find_pairs(pairs);
    return pairs;
}

}  // namespace quadrat
