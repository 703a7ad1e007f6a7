// Does a moving vertex hit a moving face, does a moving edge hit a moving edge, and when first? Exact for linear
// motion: the narrow phase of GSH (Jung & Choi, section 3.4) asks the same through the roots of a cubic in floating
// point and loses hits on nearly or always coplanar motion; here every answer is certified (docs/reference/ccd.md).
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace quadrat {

/// Four points at one time. Vertex-face: the vertex, then the three corners of the face. Edge-edge: the two ends of the
/// first edge, then the two ends of the second. Points may coincide: faces without area and edges without length are
/// legal.
using FourPoints = std::array<Vec3d, 4>;

enum class ImpactKind : std::uint8_t {
    vertex_face,
    edge_edge,
};

struct ImpactOptions {
    /// The reported time is never later than the true one, and earlier by at most this share of the step; in [1e-9, 1].
    double tolerance = 1e-6;
    /// 0 asks for contact and is decided exactly. A positive distance asks for the first time at which the features are
    /// that close or closer: no miss and never late, proved in docs/reference/ccd.md; a near miss by 1e-9 of the
    /// relative motion may count as a hit.
    double min_distance = 0;
};

/// The first contact of one query.
struct Impact {
    double time = 0;  ///< in [0, 1]
    /// Weights of the four points at the contact. Vertex-face: 1, then the barycentric coordinates on the face.
    /// Edge-edge: 1 - s, s, 1 - r, r. In floating point, each in [0, 1].
    std::array<double, 4> barycentric = {};
    /// Unit vector from the second feature (face, second edge) to the first, across the contact plane, against the side
    /// where the first one was at the start; zero where no direction exists.
    Vec3d normal = {};
};

/// The first contact in the step, or nothing. Points move in straight lines from `start` to `end`. Exact: a contact
/// that exists in real arithmetic on these doubles is never missed, and none is invented (for min_distance = 0).
/// Contact at the start counts, with time 0. Throws Error for coordinates that are not finite and for options out of
/// range.
[[nodiscard]] std::optional<Impact> find_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end,
                                                const ImpactOptions& options = {});

/// Only the time of the first contact; infinity if there is none. The same guarantees; cheaper.
[[nodiscard]] double impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end,
                                 const ImpactOptions& options = {});

/// How the queries of a call were decided.
struct ImpactStatistics {
    std::uint64_t queries = 0;
    std::uint64_t by_separation = 0;  ///< a fixed direction separates the features over the whole step
    std::uint64_t by_cubic = 0;       ///< the signs of the coplanarity cubic's coefficients exclude contact
    std::uint64_t by_interval = 0;    ///< certified root intervals
    std::uint64_t by_exact = 0;       ///< exact integer arithmetic
};

/// impact_time of many queries: times[i] for start[i], end[i]. Runs a SIMD filter over blocks of queries first; the
/// result is the same as query by query. The spans have the same length.
ImpactStatistics impact_times(ImpactKind kind, std::span<const FourPoints> start, std::span<const FourPoints> end,
                              std::span<double> times, const ImpactOptions& options = {});

}  // namespace quadrat
