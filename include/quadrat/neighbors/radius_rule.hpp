// The rules by which two radii make one: with a radius per point, how far apart i and j may be for j to be in the row
// of i. This file is the only place that knows them, but for the vector code of CellIndex
// (src/neighbors/search/rows_kernel.cpp). A new rule is one struct, one enumerator and one line in with_rule, and a
// case there; every structure that takes a RadiusRule and the command line then have it, and a line that is forgotten
// stops the build.
//
// All that a search needs to know beyond the rule itself follows from one property that every rule has, and that is
// checked below when this file is compiled: a rule never falls when one of its radii grows. So pair_radius(r_i, R) with
// the largest radius R of all points bounds what point i can see, and pair_radius(R, R) bounds every pair.
//
//     rule   radius of a pair   reach of row i, R the largest radius   symmetric   what for
//     own    r_i                r_i                                    no          support that varies (SPH)
//     max    max(r_i, r_j)      R                                      yes         either sees the other
//     min    min(r_i, r_j)      r_i                                    yes         both see each other
//     sum    r_i + r_j          r_i + R                                yes         grains that touch
//
// A CellIndex sorts points whose radii differ by more than a factor of two into size classes, so that a few very large
// radii among small ones cost what they reach.
//
// A rule of the mean, for example, would be a row in this table, an enumerator `mean` behind the last, a line for it in
// with_rule, and
//
//     struct Mean {
//         static constexpr std::string_view name = "mean";
//         template <class T>
//         constexpr T operator()(T own, T other) const {
//             return own / 2 + other / 2;
//         }
//     };
//
// How the file hangs together: the enumeration is what callers store and pass; radius_rules has a type per enumerator,
// which is what the rule does; with_rule leads from the one to the other; and the rest (names, the list of all rules,
// whether a rule is symmetric, the check of the property) asks the types, so that nothing is said twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace quadrat {

/// How far apart i and j may be for j to be in the row of i, when each point has a radius. Given in the options of
/// CellIndex and ExtendedSpatialHash; without radii per point no rule applies. Distance equal to the radius counts.
///
///     quadrat::CellIndex<3, float> grains({.rule = quadrat::RadiusRule::sum});
///     grains.build(points, radii);   // rows: the grains that touch grain i
///
/// A CellIndex with a skin adds it to the radius of the pair. Queries have no radius of their own and go by
/// options.radius, whatever the rule.
///
/// Values count from 0 without gaps, which all_radius_rules relies on.
enum class RadiusRule : std::uint8_t {
    /// r_i, the row's own radius: varying support (Onderik & Durikovic 2008, section 4.1). Not symmetric: a point with
    /// a large radius sees one with a small radius that does not see it. So no half lists, and pairs are directed.
    own,
    /// The larger of the two: near as soon as one of them sees the other.
    max,
    /// The smaller of the two: near only if both see each other.
    min,
    /// r_i + r_j, rounded in the type of the radii: touching grains. Radii whose sum is not finite are refused.
    sum,
};

/// Each rule as a type: `name` is its name on the command line, and the call operator says what it makes of the radius
/// of the row's point (own) and of the other. A rule is a pure function of two positive and finite radii of a floating
/// point type, holds no state, and never falls when one of the radii grows.
namespace radius_rules {

/// RadiusRule::own: the other radius is not looked at. Exact.
struct Own {
    static constexpr std::string_view name = "own";
    template <class T>
    constexpr T operator()(T own, T) const {
        return own;
    }
};
/// RadiusRule::max: the larger radius, exactly.
struct Max {
    static constexpr std::string_view name = "max";
    template <class T>
    constexpr T operator()(T own, T other) const {
        return own > other ? own : other;
    }
};
/// RadiusRule::min: the smaller radius, exactly.
struct Min {
    static constexpr std::string_view name = "min";
    template <class T>
    constexpr T operator()(T own, T other) const {
        return own < other ? own : other;
    }
};
/// RadiusRule::sum: rounded once, in T.
struct Sum {
    static constexpr std::string_view name = "sum";
    template <class T>
    constexpr T operator()(T own, T other) const {
        return own + other;
    }
};
/// What a number stands for that is no rule, so that with_rule always has something to call. Its name is empty, by
/// which the list of all rules knows where it ends.
struct None {
    static constexpr std::string_view name = {};
    template <class T>
    constexpr T operator()(T own, T) const {
        return own;
    }
};

}  // namespace radius_rules

// An enumerator without a line here is an error in every build, not only where warnings are errors. That is why there
// is no default: a number that is no enumerator leaves the switch and is None.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
/// visitor(the rule as a type): for code that is compiled once per rule, so that a loop over pairs does not branch on
/// the rule. Returns what the visitor returns, which must be of the same type for all rules. A number that is no
/// enumerator gives radius_rules::None.
///
///     const double reach = quadrat::with_rule(rule, [&](auto combine) { return combine(own, largest); });
template <class Visitor>
constexpr auto with_rule(RadiusRule rule, Visitor&& visitor) {
    switch (rule) {
        case RadiusRule::own:
            return visitor(radius_rules::Own{});
        case RadiusRule::max:
            return visitor(radius_rules::Max{});
        case RadiusRule::min:
            return visitor(radius_rules::Min{});
        case RadiusRule::sum:
            return visitor(radius_rules::Sum{});
    }
    return visitor(radius_rules::None{});
}
#pragma GCC diagnostic pop

/// How far apart a point with radius `own` and one with radius `other` may be for the other to be in the row of the
/// first, by this rule, in the unit of the radii. Monotone in both. Constant time; never throws.
///
/// own, other: positive and finite, which is not checked. Only the sum can then be infinite.
template <class T>
[[nodiscard]] constexpr T pair_radius(RadiusRule rule, T own, T other) {
    return with_rule(rule, [&](auto combine) { return combine(own, other); });
}

/// The name of a rule on the command line, which is that of the enumerator; empty for a number that is no rule. The
/// text is static.
[[nodiscard]] constexpr std::string_view name_of(RadiusRule rule) {
    return with_rule(rule, [](auto combine) { return decltype(combine)::name; });
}

namespace detail {

// How many enumerators there are: the numbers from 0 up to the first that has no name.
consteval std::size_t count_radius_rules() {
    std::size_t count = 0;
    while (!name_of(static_cast<RadiusRule>(count)).empty()) ++count;
    return count;
}

}  // namespace detail

/// All rules, in the order of the enumeration: for menus, tests and benchmarks that go over all of them. A std::array
/// that is known when the program is compiled.
inline constexpr auto all_radius_rules = [] {
    std::array<RadiusRule, detail::count_radius_rules()> all{};
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<RadiusRule>(k);
    return all;
}();

/// The rule with this name, if there is one: the inverse of name_of(). Exact, in lower case as the enumerators are. The
/// empty name is no rule. Linear in the number of rules.
///
///     const auto rule = quadrat::radius_rule_named("max");   // RadiusRule::max
[[nodiscard]] constexpr std::optional<RadiusRule> radius_rule_named(std::string_view name) {
    for (const RadiusRule rule : all_radius_rules)
        if (name_of(rule) == name) return rule;
    return std::nullopt;
}

namespace detail {

// True if holds(a, b) for all pairs of these radii: equal ones, and either one larger, by a factor of two and by
// others. Rules are simple enough for sixteen pairs to tell: one that is symmetric here and not elsewhere would have to
// know the numbers. They are exact in binary, and so are their sums, so that nothing is rounded.
template <class Holds>
constexpr bool for_sample_radii(Holds&& holds) {
    for (const double a : {0.5, 1.0, 2.0, 3.0})
        for (const double b : {0.5, 1.0, 2.0, 3.0})
            if (!holds(a, b)) return false;
    return true;
}

}  // namespace detail

/// True if j is in the row of i whenever i is in the row of j. Half lists need such a rule, or throw
/// Error{unsupported}, and where it is false for_each_pair and count_pairs of a CellIndex go by directed pairs. False
/// for own only. Known when the program is compiled, if the rule is.
[[nodiscard]] constexpr bool is_symmetric(RadiusRule rule) {
    return detail::for_sample_radii(
        [&](double a, double b) { return pair_radius(rule, a, b) == pair_radius(rule, b, a); });
}
/// True if the radius of the other point matters at all: false for own only. A search by a rule that does not use it
/// needs no test per pair beyond that of one radius per row.
[[nodiscard]] constexpr bool uses_other(RadiusRule rule) {
    return !detail::for_sample_radii(
        [&](double a, double b) { return pair_radius(rule, a, b) == pair_radius(rule, a, a); });
}

// The list is whole: a number behind it stands for no rule. An enumerator with a number of its own, or a rule without a
// name, would end the list too early.
static_assert(
    [] {
        for (std::size_t k = all_radius_rules.size(); k < 256; ++k)
            if (!with_rule(static_cast<RadiusRule>(k),
                           []<class Rule>(Rule) { return std::is_same_v<Rule, radius_rules::None>; }))
                return false;
        return true;
    }(),
    "rules count from 0 without gaps, and each has a name");

// The property that searches rely on (see the head of the file), for every rule of the list and the sample radii: to
// double one of them never makes the pair's radius smaller.
static_assert(
    [] {
        for (const RadiusRule rule : all_radius_rules)
            if (!detail::for_sample_radii([&](double a, double b) {
                    return pair_radius(rule, a, b) <= pair_radius(rule, 2 * a, b) &&
                           pair_radius(rule, a, b) <= pair_radius(rule, a, 2 * b);
                }))
                return false;
        return true;
    }(),
    "a rule must never fall when one of its radii grows");

}  // namespace quadrat
