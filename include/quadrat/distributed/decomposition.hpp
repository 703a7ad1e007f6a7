// Space cut into one leaf per rank, by recursive coordinate bisection of the bodies' centres: the cuts come from
// Zoltan's RCB (Berger & Bokhari 1987), or from a sample of the centres where Zoltan is not built in. All ranks hold
// all P - 1 cuts, so that anyone can say by a few comparisons whose a point is and whom a box reaches: no message is
// needed to find out who must be told.
//
//     +-------+-----------+     P = 4: the first cut, x <= c, has two leaves on each side. A point on a cut is left of
//     |   1   |     3     |     it; a box goes to every leaf that one of its points belongs to.
//     +-------+           |
//     |   0   +-----------+
//     |       |     2     |
//     +-------+-----------+
#pragma once

#include <quadrat/distributed/exchange.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/neighbors/periodic.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace quadrat {

/// Where cuts come from.
enum class CutSource : std::uint8_t {
    automatic,  ///< Zoltan where it is built in, otherwise a sample
    zoltan,     ///< balance within 5 %; throws Error{unsupported} where it is not built in
    sample,     ///< balance within about 10 %, a tenth of the time
};

/// What the distributed structures share. What must be the same on all ranks is not checked: ranks that disagree wait
/// for each other.
template <int D, class T>
struct DecompositionOptions {
    /// Threads inside a rank; outlives the structure. Results do not depend on it. Default: null, the calling thread.
    Executor* executor = nullptr;
    /// Where cuts come from. The same on all ranks. Default: Zoltan where it is built in.
    CutSource cuts = CutSource::automatic;
    /// New cuts are made when the largest number of bodies that a rank owns is more than this multiple of the mean, and
    /// 5 % more than after the last cuts. From 1; infinity: the first cuts stay, those of an update without bodies
    /// included, which leave everything to rank 0. The same on all ranks. Default: 1.2.
    double imbalance = 1.2;
    /// Repeats space for points (boxes are never periodic). The same on all ranks. Default: open along all axes.
    Periodic<D, T> periodic = {};
    /// Limit of the bytes that a call may allocate on a rank for bodies that come from others, checked before they are
    /// allocated: Error{too_large} on all ranks, with the bytes needed. A body counts as its box or point and 8 bytes
    /// of id. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// The part of space that belongs to one rank: lo < x <= hi along each axis, a bound at -infinity included. The regions
/// of all ranks fill space and do not overlap; that of a rank without bodies may be empty.
template <int D>
struct Region {
    /// In the unit of the coordinates; -infinity and +infinity where no cut bounds it.
    Vec<D, double> lo, hi;

    /// Whether a point belongs to it. Exact: a float is compared as the double that it is. False for NaN.
    template <class T>
    [[nodiscard]] bool holds(const Vec<D, T>& x) const {
        return holds(Box<D, T>{x, x});
    }
    /// Whether the whole box does, so that no other rank is reached by it. False for NaN.
    template <class T>
    [[nodiscard]] bool holds(const Box<D, T>& box) const {
        bool inside = true;
        for (int k = 0; k < D; ++k) {
            const double a = box.lo[k], b = box.hi[k];
            inside &= (a > lo[k] || lo[k] == -std::numeric_limits<double>::infinity()) && b <= hi[k];
        }
        return inside;
    }
};

/// What the last calls did, as this rank sees it; `cuts` and `imbalance` are the same on all ranks.
struct DecompositionStats {
    /// How often cuts were made.
    std::uint64_t cuts = 0;
    /// After the last update: the most bodies owned by a rank over the mean, from 1 to the number of ranks; 1 without
    /// bodies. Ghosts do not count.
    double imbalance = 1;
    /// Bodies that left this rank in the last update.
    std::uint64_t migrated = 0;
    /// Bodies of others on this rank after the last halo; 0 from new cuts until the next one.
    std::uint64_t ghosts = 0;
    /// Copies that this rank gave to others in the last halo; a body that went to two counts twice.
    std::uint64_t sent = 0;
    /// To so many ranks.
    std::uint64_t halo_messages = 0;
};

/// How long the stages of the last insert or update and find took on this rank, waiting for others included, in
/// seconds; and the processor time of this thread for what is local. Nothing is decided by them.
struct DistributedSeconds {
    double migrate = 0;  ///< cuts, homes, and sending bodies to their ranks
    double halo = 0;     ///< who must know whom, and sending copies
    /// Filling the local structure: wall clock, and processor time of the calling thread.
    double build = 0, build_cpu = 0;
    /// The local search, likewise.
    double find = 0, find_cpu = 0;
};

/// Cuts, and who owns and who is told. Holds P - 1 cuts and no bodies: it is what DistributedBroadPhase and
/// DistributedNeighbors stand on, and is of use by itself to those who bring their own search. Compiled for D = 2, 3
/// and T = float, double.
///
///     Decomposition<3, double> space(MPI_COMM_WORLD);
///     space.update(std::span<const Box3d>(boxes)).apply(boxes);  // own boxes
///     const Halo halo = space.halo(std::span<const Box3d>(boxes));
///     halo.send(boxes);  // and behind them those of others that reach this rank's region
///
/// Not to be called by several threads at a time. Destroy it, and every Migration and Halo that it gave, before
/// MPI_Finalize.
template <int D, class T>
class Decomposition {
  public:
    using Options = DecompositionOptions<D, T>;

    /// Collective; duplicates the communicator. No cuts yet: all of space is rank 0's.
    ///
    /// comm: of a running MPI, or Error{unsupported}.
    /// options: Error{bad_value} on all ranks for an imbalance below 1 or a periodic box that is flat, and
    ///     Error{unsupported} for CutSource::zoltan in a build without it.
    explicit Decomposition(MPI_Comm comm, const Options& options = {});
    ~Decomposition();
    Decomposition(Decomposition&&) noexcept;
    Decomposition& operator=(Decomposition&&) noexcept;

    /// Collective. Says where the rank's bodies belong now, after making cuts if there are none or the balance asks for
    /// new ones. A box belongs to the rank of its centre (along an axis where it is infinite: of its finite end, or of
    /// 0), a point to that of its image inside the periodic box. Bodies may be anywhere before; those that are infinite
    /// do not count for the cuts. O(n log P) time; cuts cost O(n log P) more, with messages of all n centres'
    /// coordinates in Zoltan and of some 1000 per rank with CutSource::sample.
    ///
    /// Says where, and sends nothing: apply() the migration to your arrays. Halos of before are then of no use.
    ///
    /// boxes: no NaN, lo <= hi; bounds may be infinite. Error{bad_value} on all ranks names rank and position and
    ///     changes nothing. At most 2^32 - 2 per rank before and after, and within max_bytes what comes in; otherwise
    ///     Error{too_large} on all ranks, and new cuts stay if they were made.
    [[nodiscard]] Migration update(std::span<const Box<D, T>> boxes);
    /// The same for points.
    ///
    /// points: finite, and at most 2^30 periodic boxes away; otherwise as `boxes`.
    [[nodiscard]] Migration update(std::span<const Vec<D, T>> points);

    /// Collective. Says who must know which of the rank's bodies: each box goes to every other rank whose leaf it
    /// reaches, touching by the rule of the cuts included. Call it after the migration was applied; sends nothing but
    /// counts. O(n + copies log P). Throws Error{too_large} on all ranks if the ghosts need more than max_bytes, and
    /// what update() throws for bad boxes.
    [[nodiscard]] Halo halo(std::span<const Box<D, T>> boxes);
    /// The same for points: each goes to every other rank whose leaf lies within `radius` of it or of one of its images
    /// (and a little more, for the roundings of the neighbour test), once however many images there are. A leaf that is
    /// near by the box around the point counts as near. Costs as much again for each neighbouring image of the periodic
    /// box that this rank's points come near to.
    ///
    /// radius: positive and finite, in the unit of the coordinates, or Error{bad_value}; the same on all ranks.
    [[nodiscard]] Halo halo(std::span<const Vec<D, T>> points, T radius);

    // What follows is local.

    /// The rank that owns a body, the same answer on every rank. Before the first update everything belongs to rank 0.
    /// O(log P) for cuts that halve.
    [[nodiscard]] int home(const Box<D, T>& box) const;
    /// The same for a point; in a periodic box for its image inside. Throws as wrap().
    [[nodiscard]] int home(const Vec<D, T>& point) const;
    /// The leaf of this rank. Changes with new cuts.
    [[nodiscard]] const Region<D>& region() const;
    /// The duplicate that all structures and exchanges made from this one share.
    [[nodiscard]] const std::shared_ptr<const Communicator>& comm() const;
    /// What the last calls did. O(1).
    [[nodiscard]] DecompositionStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
