// Space cut into one leaf per rank, by recursive coordinate bisection of the bodies' centres: the cuts come from
// Zoltan's RCB (Berger & Bokhari 1987), or from a sample of the centres where Zoltan is not built in. All ranks hold
// all P - 1 cuts, so that anyone can say by a few comparisons whose a point is and whom a box reaches: no message is
// needed to find out who must be told.
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

/// What the distributed structures share.
template <int D, class T>
struct DecompositionOptions {
    Executor* executor = nullptr;  ///< threads inside a rank; serial when null; outlives the structure
    CutSource cuts = CutSource::automatic;
    /// New cuts are made when the largest number of bodies that a rank owns is more than this multiple of the mean, and
    /// 5 % more than after the last cuts. From 1; infinity: the first cuts stay. The same on all ranks.
    double imbalance = 1.2;
    /// Repeats space for points (boxes are never periodic). The same on all ranks.
    Periodic<D, T> periodic = {};
    /// Limit of the bytes that a call may allocate on a rank for bodies that come from others, checked before they are
    /// allocated: Error{too_large} on all ranks, with the bytes needed.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// The part of space that belongs to one rank: lo < x <= hi along each axis, a bound at -infinity included.
template <int D>
struct Region {
    Vec<D, double> lo, hi;

    template <class T>
    [[nodiscard]] bool holds(const Vec<D, T>& x) const {
        return holds(Box<D, T>{x, x});
    }
    /// The whole box, so that no other rank is reached by it.
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

struct DecompositionStats {
    std::uint64_t cuts = 0;           ///< how often cuts were made
    double imbalance = 1;             ///< after the last update: the most bodies owned by a rank over the mean
    std::uint64_t migrated = 0;       ///< bodies that left this rank in the last update
    std::uint64_t ghosts = 0;         ///< bodies of others on this rank after the last halo
    std::uint64_t sent = 0;           ///< copies that this rank gave to others in the last halo
    std::uint64_t halo_messages = 0;  ///< to so many ranks
};

/// How long the stages of the last insert or update and find took on this rank, waiting for others included, in
/// seconds; and the processor time of this thread for what is local.
struct DistributedSeconds {
    double migrate = 0;  ///< cuts, homes, and sending bodies to their ranks
    double halo = 0;     ///< who must know whom, and sending copies
    double build = 0, build_cpu = 0;
    double find = 0, find_cpu = 0;
};

/// Cuts, and who owns and who is told. Holds no bodies. Not to be called by several threads at a time.
template <int D, class T>
class Decomposition {
  public:
    using Options = DecompositionOptions<D, T>;

    /// Collective; duplicates the communicator.
    explicit Decomposition(MPI_Comm comm, const Options& options = {});
    ~Decomposition();
    Decomposition(Decomposition&&) noexcept;
    Decomposition& operator=(Decomposition&&) noexcept;

    /// Collective. Says where the rank's bodies belong now, after making cuts if there are none or the balance asks for
    /// new ones. A box belongs to the rank of its centre (along an axis where it is infinite: of its finite end, or of
    /// 0), a point to that of its image inside the periodic box. Bodies may be anywhere before. Throws Error{bad_value}
    /// on all ranks, naming rank and position, and changes nothing. O(n log P) time; cuts cost O(n log P) more, with
    /// messages of all n centres' coordinates in Zoltan.
    [[nodiscard]] Migration update(std::span<const Box<D, T>> boxes);
    [[nodiscard]] Migration update(std::span<const Vec<D, T>> points);

    /// Collective. Says who must know which of the rank's bodies: each box goes to every other rank whose leaf it
    /// reaches; each point to every other rank whose leaf lies within `radius` of it or of one of its images (and a
    /// little more, for the roundings of the neighbour test), once however many images there are. Call it after the
    /// migration was applied. Throws Error{too_large} on all ranks if the ghosts need more than max_bytes.
    [[nodiscard]] Halo halo(std::span<const Box<D, T>> boxes);
    [[nodiscard]] Halo halo(std::span<const Vec<D, T>> points, T radius);

    /// The rank that owns a body. Before the first update everything belongs to rank 0.
    [[nodiscard]] int home(const Box<D, T>& box) const;
    [[nodiscard]] int home(const Vec<D, T>& point) const;
    /// The leaf of this rank.
    [[nodiscard]] const Region<D>& region() const;
    [[nodiscard]] const std::shared_ptr<const Communicator>& comm() const;
    [[nodiscard]] DecompositionStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
