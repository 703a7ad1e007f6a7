// Does a moving vertex hit a moving face, does a moving edge hit a moving edge, and when first? Exact for linear
// motion: the narrow phase of GSH (Jung & Choi, section 3.4) asks the same through the roots of a cubic in floating
// point and loses hits on nearly or always coplanar motion; here every answer is certified (docs/reference/ccd.md).
//
// Functions of their arguments: any number of threads may call them at a time, and the result is the same on every
// machine. For whole meshes see contacts.hpp, which finds the pairs too.
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

/// Which two features the four points are.
enum class ImpactKind : std::uint8_t {
    vertex_face,  ///< one point and three
    edge_edge,    ///< two points and two
};

/// What counts as contact, and how finely its time is told. A value out of its range is Error{bad_value} that names it.
struct ImpactOptions {
    /// The reported time is never later than the true one, and earlier by at most this share of the step; in [1e-9, 1].
    /// Default: 1e-6.
    double tolerance = 1e-6;
    /// Finite and not negative, in the unit of the coordinates. 0, the default, asks for contact and is decided
    /// exactly. A positive distance asks for the first time at which the features are that close or closer: never
    /// missed, never late, early by at most the tolerance, and a hit comes within the distance and 2^-44 of the largest
    /// relative coordinate; proved in docs/reference/ccd.md.
    double min_distance = 0;
};

/// The first contact of one query. The time is certified; weights and normal are computed at that time in floating
/// point.
struct Impact {
    /// In [0, 1]: 0 is the start of the step and 1 its end.
    double time = 0;
    /// Weights of the four points at the contact. Vertex-face: 1, then the barycentric coordinates on the face.
    /// Edge-edge: 1 - s, s, 1 - r, r. In floating point, each in [0, 1].
    std::array<double, 4> barycentric = {};
    /// Unit vector from the second feature (face, second edge) to the first: across the contact plane, to the side
    /// where the first one was at the start, or if it started in that plane against its motion; between the closest
    /// points where there is room between them. Zero where no direction exists.
    Vec3d normal = {};
};

/// The first contact in the step, or nothing. Points move in straight lines from `start` to `end`. Exact: a contact
/// that exists in real arithmetic on these doubles is never missed, and none is invented (for min_distance = 0).
/// Contact at the start counts, with time 0, and so does touching at any time.
///
///     const FourPoints start = {vertex, a, b, c}, end = {vertex_next, a, b, c};  // a face at rest
///     if (const std::optional<Impact> hit = find_impact(ImpactKind::vertex_face, start, end)) stop_at(hit->time);
///
/// Cost: some tenths of a microsecond on average; some microseconds, or tens of them, where only exact integers decide
/// (docs/results/ccd.md). Only that last stage allocates.
///
/// start, end: finite, or Error{bad_value} names point and axis.
[[nodiscard]] std::optional<Impact> find_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end,
                                                const ImpactOptions& options = {});

/// Only the time of the first contact; infinity if there is none. The same guarantees; cheaper.
[[nodiscard]] double impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end,
                                 const ImpactOptions& options = {});

/// How the queries of a call were decided. The four counts add up to `queries` for min_distance = 0; searches for a
/// positive distance are in none of them.
struct ImpactStats {
    std::uint64_t queries = 0;        ///< all of them
    std::uint64_t by_separation = 0;  ///< a fixed direction separates the features over the whole step
    std::uint64_t by_cubic = 0;       ///< the signs of the coplanarity cubic's coefficients exclude contact
    std::uint64_t by_interval = 0;    ///< certified root intervals
    std::uint64_t by_exact = 0;       ///< exact integer arithmetic
};

/// impact_time of many queries: times[i] for start[i], end[i]. Runs a SIMD filter over blocks of queries first; the
/// result is the same as query by query. On the calling thread; cut the spans to use several. Without queries it does
/// nothing.
///
/// start, end: of the same length, or Error{bad_shape}; finite, or Error{bad_value} names the query. Both are found out
///     before the first time is written.
/// times: as long; infinity where there is no contact.
ImpactStats impact_times(ImpactKind kind, std::span<const FourPoints> start, std::span<const FourPoints> end,
                         std::span<double> times, const ImpactOptions& options = {});

}  // namespace quadrat
