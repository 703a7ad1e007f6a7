// Which rule two shapes meet by: one entry for each ordered pair, looked up by both shapes' names. An entry that is
// missing, or that does not fit its mirror image, fails to compile.
#pragma once

#include <quadrat/simulation/scene.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quadrat::simulation {

/// How contacts are found.
enum class ContactRule : std::uint8_t {
    missing,
    never,
    first_in_second,  ///< points of the first in the distance of the second
    second_in_first,
    each_in_other,
    boxes,  ///< separating axes (box_contacts.hpp); in two dimensions each_in_other
};

/// How it is decided whether two bodies share a place.
enum class OverlapRule : std::uint8_t {
    missing,
    never,
    ball_in_second,  ///< the first is a sphere: its centre in the distance of the second
    ball_in_first,
    corners_in_second,
    corners_in_first,
    boxes,     ///< separating axes
    surfaces,  ///< points of either surface in the distance of the other (overlap.cpp)
};

struct Meeting {
    ContactRule contacts = ContactRule::missing;
    OverlapRule overlap = OverlapRule::missing;
};

inline constexpr std::size_t shape_count = 4;

inline constexpr std::size_t no_shape = static_cast<std::size_t>(-1);

// A shape without a line here fails to compile; one whose number has no row in the table does, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
/// The row and column of a shape in the table below: its place in BodyShape and in names_of<BodyShape>.
[[nodiscard]] constexpr std::size_t number_of(BodyShape shape) {
    switch (shape) {
        case BodyShape::sphere:
            return 0;
        case BodyShape::box:
            return 1;
        case BodyShape::plane:
            return 2;
        case BodyShape::mesh:
            return 3;
    }
    return no_shape;
}
#pragma GCC diagnostic pop

namespace detail {
using enum ContactRule;
using Row = std::array<Meeting, shape_count>;
using Table = std::array<Row, shape_count>;
using Overlap = OverlapRule;

// Columns: sphere, box, plane, mesh. Half-spaces do not collide with each other.
inline constexpr Table meetings = {{
    /* sphere */ {{{first_in_second, Overlap::ball_in_second},
                   {first_in_second, Overlap::ball_in_second},
                   {first_in_second, Overlap::ball_in_second},
                   {each_in_other, Overlap::ball_in_second}}},
    /* box    */
    {{{second_in_first, Overlap::ball_in_first},
      {boxes, Overlap::boxes},
      {first_in_second, Overlap::corners_in_second},
      {each_in_other, Overlap::surfaces}}},
    /* plane  */
    {{{second_in_first, Overlap::ball_in_first},
      {second_in_first, Overlap::corners_in_first},
      {never, Overlap::never},
      {second_in_first, Overlap::corners_in_first}}},
    /* mesh   */
    {{{each_in_other, Overlap::ball_in_first},
      {each_in_other, Overlap::surfaces},
      {first_in_second, Overlap::corners_in_second},
      {each_in_other, Overlap::surfaces}}},
}};

constexpr bool complete(const Table& table) {
    for (const Row& row : table)
        for (const Meeting& m : row)
            if (m.contacts == missing || m.overlap == Overlap::missing) return false;
    return true;
}

constexpr bool numbered() {
    for (std::size_t k = 0; k < shape_count; ++k)
        if (number_of(static_cast<BodyShape>(k)) != k) return false;
    return number_of(static_cast<BodyShape>(shape_count)) == no_shape;
}

/// What the second does to the first by a rule, as a rule of the first.
constexpr ContactRule reversed(ContactRule rule) {
    return rule == first_in_second ? second_in_first : rule == second_in_first ? first_in_second : rule;
}
constexpr OverlapRule reversed(OverlapRule rule) {
    switch (rule) {
        case Overlap::ball_in_second:
            return Overlap::ball_in_first;
        case Overlap::ball_in_first:
            return Overlap::ball_in_second;
        case Overlap::corners_in_second:
            return Overlap::corners_in_first;
        case Overlap::corners_in_first:
            return Overlap::corners_in_second;
        default:
            return rule;
    }
}

// What the first does to the second in one entry, the second does to the first in the mirrored one.
constexpr bool mirrored(const Table& table) {
    for (std::size_t a = 0; a < shape_count; ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (table[b][a].contacts != reversed(table[a][b].contacts) ||
                table[b][a].overlap != reversed(table[a][b].overlap))
                return false;
    return true;
}

// Only a sphere is a ball, and only two boxes are boxes.
constexpr bool fitting(const Table& table) {
    for (std::size_t a = 0; a < shape_count; ++a)
        for (std::size_t b = 0; b < shape_count; ++b) {
            const Meeting& m = table[a][b];
            const bool both = a == number_of(BodyShape::box) && b == number_of(BodyShape::box);
            if (m.overlap == Overlap::ball_in_second && a != number_of(BodyShape::sphere)) return false;
            if (m.overlap == Overlap::ball_in_first && b != number_of(BodyShape::sphere)) return false;
            if ((m.overlap == Overlap::boxes || m.contacts == boxes) && !both) return false;
        }
    return true;
}

}  // namespace detail

static_assert(detail::numbered(), "the number of a shape is not its place in BodyShape, or has no row");
static_assert(detail::complete(detail::meetings), "a pair of shapes has no rule");
static_assert(detail::mirrored(detail::meetings), "two shapes meet by different rules in the two orders");
static_assert(detail::fitting(detail::meetings), "a rule for spheres or boxes is given to another shape");

[[nodiscard]] constexpr const Meeting& meeting(BodyShape first, BodyShape second) {
    return detail::meetings[number_of(first)][number_of(second)];
}

}  // namespace quadrat::simulation
