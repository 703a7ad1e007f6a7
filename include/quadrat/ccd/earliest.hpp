// How far meshes may move: the first contact of a step alone, for line searches. It costs a fraction of all contacts,
// because the search ends in the first part of the step that has one.
//
// Functions of their arguments, as find_contacts() is: the result is the same for every number of threads of the
// executor and every SIMD level.
#pragma once

#include <quadrat/ccd/contacts.hpp>

#include <span>

namespace quadrat {

/// The first time in [0, t_max] at which features meet, or infinity: ContactList::earliest of the same meshes and
/// options, to the bit, where that is at most t_max. Never late, so that moving the vertices by this share of the step
/// (or a little less) leaves no contact behind.
///
///     const double free = std::min(1.0, earliest_time(mesh));      // where the line search begins
///     for (Vec3d& v : x) v = start + 0.9 * free * (end - start);
///
/// t_max: in [0, 1], or Error{bad_value}. Default: the whole step. Contacts behind it are not looked for: one that is
///     early in the step, or a small t_max, makes the call cheap.
///
/// Throws what find_contacts() throws.
[[nodiscard]] double earliest_time(const MovingMesh& mesh, double t_max = 1, const ContactOptions& options = {});
/// Among many meshes, as options.scope, groups and masks say.
[[nodiscard]] double earliest_time(std::span<const MovingMesh> meshes, double t_max = 1,
                                   const ContactOptions& options = {});
/// Among pairs that were found before, without a broad phase; see find_contacts() with candidates.
[[nodiscard]] double earliest_time(std::span<const MovingMesh> meshes, const Candidates& candidates, double t_max = 1,
                                   const ContactOptions& options = {});

}  // namespace quadrat
