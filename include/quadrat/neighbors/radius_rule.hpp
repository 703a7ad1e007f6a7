// The rules by which two radii make one: with a radius per point, how far apart i and j may be for j to be in the row
// of i. This file is the only place that knows them. A new rule is one struct, one enumerator and one line in
// with_rule; every structure that takes a RadiusRule and the command line then have it, and a line that is forgotten
// stops the build.
//
// All that a search needs to know beyond the rule itself follows from one property that every rule has, and that is
// checked below when this file is compiled: a rule never falls when one of its radii grows. So pair_radius(r_i, R) with
// the largest radius R of all points bounds what point i can see, and pair_radius(R, R) bounds every pair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace quadrat {

/// How far apart i and j may be for j to be in the row of i, when each point has a radius. Values count from 0.
enum class RadiusRule : std::uint8_t {
    own,  ///< r_i: varying support (Onderik & Durikovic 2008, section 4.1); not symmetric
    max,  ///< the larger of the two
    min,  ///< the smaller of the two
    sum,  ///< r_i + r_j: touching grains
};

/// Each rule: its name on the command line, and what it makes of the radius of the row's point and of the other.
namespace radius_rules {

struct Own {
    static constexpr std::string_view name = "own";
    template <class T>
    constexpr T operator()(T own, T) const {
        return own;
    }
};
struct Max {
    static constexpr std::string_view name = "max";
    template <class T>
    constexpr T operator()(T own, T other) const {
        return own > other ? own : other;
    }
};
struct Min {
    static constexpr std::string_view name = "min";
    template <class T>
    constexpr T operator()(T own, T other) const {
        return own < other ? own : other;
    }
};
struct Sum {
    static constexpr std::string_view name = "sum";
    template <class T>
    constexpr T operator()(T own, T other) const {
        return own + other;
    }
};
/// What a number stands for that is no rule. Its name is empty.
struct None {
    static constexpr std::string_view name = {};
    template <class T>
    constexpr T operator()(T own, T) const {
        return own;
    }
};

}  // namespace radius_rules

// An enumerator without a line here is an error in every build, not only where warnings are errors.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
/// visitor(the rule as a type): for code that is compiled once per rule.
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
/// first, by this rule.
template <class T>
[[nodiscard]] constexpr T pair_radius(RadiusRule rule, T own, T other) {
    return with_rule(rule, [&](auto combine) { return combine(own, other); });
}

/// The name of a rule on the command line; empty for a number that is no rule.
[[nodiscard]] constexpr std::string_view name_of(RadiusRule rule) {
    return with_rule(rule, [](auto combine) { return decltype(combine)::name; });
}

namespace detail {

consteval std::size_t count_radius_rules() {
    std::size_t count = 0;
    while (!name_of(static_cast<RadiusRule>(count)).empty()) ++count;
    return count;
}

}  // namespace detail

/// All rules, in the order of the enumeration.
inline constexpr auto all_radius_rules = [] {
    std::array<RadiusRule, detail::count_radius_rules()> all{};
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<RadiusRule>(k);
    return all;
}();

/// The rule with this name, if there is one.
[[nodiscard]] constexpr std::optional<RadiusRule> radius_rule_named(std::string_view name) {
    for (const RadiusRule rule : all_radius_rules)
        if (name_of(rule) == name) return rule;
    return std::nullopt;
}

namespace detail {

/// True if holds(a, b) for radii of every order of size among these.
template <class Holds>
constexpr bool for_sample_radii(Holds&& holds) {
    for (const double a : {0.5, 1.0, 2.0, 3.0})
        for (const double b : {0.5, 1.0, 2.0, 3.0})
            if (!holds(a, b)) return false;
    return true;
}

}  // namespace detail

/// True if j is in the row of i whenever i is in the row of j. Half lists and pairs need such a rule.
[[nodiscard]] constexpr bool is_symmetric(RadiusRule rule) {
    return detail::for_sample_radii(
        [&](double a, double b) { return pair_radius(rule, a, b) == pair_radius(rule, b, a); });
}
/// True if the radius of the other point matters at all.
[[nodiscard]] constexpr bool uses_other(RadiusRule rule) {
    return !detail::for_sample_radii(
        [&](double a, double b) { return pair_radius(rule, a, b) == pair_radius(rule, a, a); });
}

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
