// How a struct of a scene is described, once: a table with a row per member, from which the JSON reader (src/scene_io),
// the validator, the checkpoint and the page docs/scenes.md are made. scene_fields.hpp holds the tables themselves.
//
// FieldsOf<S>::rows is a tuple of Field. A member without a row, or with two, does not compile: members_of<S>() counts
// the members of an aggregate by how many values it can be braced with, and described<S>() compares. What a table
// cannot say (two fields that must agree) is code in validate.cpp, which runs after the rows were checked one by one.
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quadrat::simulation {

/// What a number, or each number of a vector, may be. Infinity and NaN are refused, where nothing else is said.
enum class Range : std::uint8_t {
    any,
    positive,           ///< above 0
    positive_or_unset,  ///< above 0; 0 in the struct is what a file says by leaving it out
    not_negative,       ///< 0 or more
    until,              ///< 0 or more, or infinity: never
    share,              ///< from 0 to 1
    corner,             ///< any, and the z of the struct has no meaning in two dimensions
    direction,          ///< a vector of any length but 0
    turn,               ///< three numbers in two dimensions too, where only z may differ from 0
    phase,              ///< the number of one of Scene::phases; a file may give its name
};

/// Who gives a number: in a file 0 does not stand for a number that is left out.
enum class Given { by_file, by_program };

/// Particles are single precision, and so are products of what is given: beyond these sizes nothing means anything.
inline constexpr double smallest_number = 1e-18, largest_number = 1e18;

/// What is expected where x cannot be; null where it can.
[[nodiscard]] inline const char* expected_instead(double x, Range range, Given given) {
    const bool may_be_unset = range == Range::positive_or_unset && given == Given::by_program;
    const bool positive = range == Range::positive || (range == Range::positive_or_unset && !may_be_unset);
    if (positive && !(x > 0 && std::isfinite(x))) return "a positive number";
    if ((may_be_unset || range == Range::not_negative) && !(x >= 0 && std::isfinite(x)))
        return "a number of at least 0";
    if (range == Range::until && !(x >= 0)) return "a number of at least 0";
    if (range == Range::share && !(x >= 0 && x <= 1)) return "a number from 0 to 1";
    if (range == Range::until && std::isinf(x)) return nullptr;
    if (!std::isfinite(x)) return "a finite number";
    const bool too_small = (positive || may_be_unset) && x != 0 && x < smallest_number;
    return too_small || std::abs(x) > largest_number ? "a number between 1e-18 and 1e18 in size" : nullptr;
}

/// Who uses a member.
enum class Use : std::uint8_t {
    file,      ///< read from a file, checked, saved
    made,      ///< made by the reader from other keys, or by the program only; checked, saved
    run_time,  ///< neither read nor saved: belongs to the process
};

/// One member of S. Made by field() and the functions that change a row.
template <class S, class M>
struct Field {
    using Struct = S;
    using Member = M;
    M S::*member;
    const char* name;   ///< in files and in the paths of errors; "" for a group, whose members stand in the same object
    const char* unit;   ///< SI, or "" for none
    const char* about;  ///< one sentence, or several, for docs/scenes.md
    Range range = Range::any;
    Use use = Use::file;
    bool needed = false;                         ///< a file must have it
    std::uint64_t least = 0, most = UINT32_MAX;  ///< of whole numbers, and of the length of lists of structs
    const char* otherwise = nullptr;             ///< the default in words, where the struct's value does not say it
    bool (*used)(const S&) = nullptr;            ///< false: this member has no meaning beside the others' values

    [[nodiscard]] constexpr Field in(Range r) const {
        return with([&](Field& f) { f.range = r; });
    }
    [[nodiscard]] constexpr Field as(Use u) const {
        return with([&](Field& f) { f.use = u; });
    }
    [[nodiscard]] constexpr Field must() const {
        return with([&](Field& f) { f.needed = true; });
    }
    [[nodiscard]] constexpr Field from(std::uint64_t a, std::uint64_t b = UINT32_MAX) const {
        return with([&](Field& f) { f.least = a, f.most = b; });
    }
    [[nodiscard]] constexpr Field or_else(const char* text) const {
        return with([&](Field& f) { f.otherwise = text; });
    }
    [[nodiscard]] constexpr Field when(bool (*test)(const S&)) const {
        return with([&](Field& f) { f.used = test; });
    }

    [[nodiscard]] constexpr bool is_group() const { return *name == '\0'; }
    [[nodiscard]] bool has_meaning(const S& s) const { return !used || used(s); }

  private:
    template <class Change>
    [[nodiscard]] constexpr Field with(Change&& change) const {
        Field copy = *this;
        change(copy);
        return copy;
    }
};

template <class S, class M>
[[nodiscard]] constexpr Field<S, M> field(const char* name, M S::*member, const char* unit, const char* about) {
    return {.member = member, .name = name, .unit = unit, .about = about};
}
/// Members of a struct inside S that files write beside those of S itself.
template <class S, class M>
[[nodiscard]] constexpr Field<S, M> group(M S::*member) {
    return {.member = member, .name = "", .unit = "", .about = ""};
}

/// Specialised for each struct that is described; has `static constexpr std::tuple rows`.
template <class S>
struct FieldsOf;
template <class S>
concept Described = requires {
    FieldsOf<S>::rows;
};

/// Specialised for each enum: what files call its values, in their order.
template <class E>
inline constexpr std::array<const char*, 0> names_of = {};

/// Calls fn(row) for each row, in the table's order.
template <Described S, class Fn>
constexpr void for_each_field(Fn&& fn) {
    std::apply([&](const auto&... row) { (fn(row), ...); }, FieldsOf<S>::rows);
}

namespace detail {

struct Anything {
    template <class T>
    operator T() const;  // never defined: only its type is looked at
};

template <class S, class... A>
[[nodiscard]] consteval std::size_t members_of() {
    if constexpr (requires { S{A{}..., Anything{}}; })
        return members_of<S, A..., Anything>();
    else
        return sizeof...(A);
}

template <class A, class B>
[[nodiscard]] consteval bool same_member(const A& a, const B& b) {
    if constexpr (std::is_same_v<A, B>)
        return a.member == b.member;
    else
        return false;
}

}  // namespace detail

/// Every member of S has exactly one row.
template <Described S>
[[nodiscard]] consteval bool described() {
    constexpr auto& rows = FieldsOf<S>::rows;
    constexpr std::size_t n = std::tuple_size_v<std::remove_cvref_t<decltype(rows)>>;
    constexpr auto alone = []<std::size_t i, std::size_t... k>(std::index_sequence<k...>) {
        return ((k >= i || !detail::same_member(std::get<i>(rows), std::get<k>(rows))) && ...);
    };
    return n == detail::members_of<S>()&& [&]<std::size_t... i>(std::index_sequence<i...>) {
        return (alone.template operator()<i>(std::make_index_sequence<n>{}) && ...);
    }
    (std::make_index_sequence<n>{});
}

/// A place inside a scene, such as "/bodies/2/radius". A chain on the stack: text is made only when something is wrong.
class Path {
  public:
    Path() = default;
    Path(const Path& up, const char* name) : up_(&up), name_(name) {}
    Path(const Path& up, std::size_t index) : up_(&up), index_(index) {}
    Path(Path&&) = delete;

    [[nodiscard]] std::string text() const {
        if (!up_) return {};
        return up_->text() + "/" + (name_ ? std::string(name_) : std::to_string(index_));
    }

  private:
    const Path* up_ = nullptr;
    const char* name_ = nullptr;
    std::size_t index_ = 0;
};

}  // namespace quadrat::simulation
