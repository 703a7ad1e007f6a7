// Checks a struct of a scene field by field, as the rows of its table say. A type that has no check here does not
// compile, so a new kind of field cannot slip through.
#pragma once

#include "simulation/scene/complain.hpp"
#include "simulation/scene/fields.hpp"

#include <cmath>
#include <string>

namespace quadrat::simulation {

/// What the check of one field depends on beside its row.
struct CheckContext {
    int dimension = 3;
    std::size_t phases = 1;  ///< how many the scene has
};

inline void check_number(double x, Range range, const Path& path) {
    if (const char* what = expected_instead(x, range, Given::by_program))
        fail(path.text(), std::string("expected ") + what + ", found " + text(x));
}

/// Along the axes that the scene has; z is 0 in two dimensions, but for the corner of a box, where it has no meaning.
inline void check_vector(const Vec3d& v, Range range, const CheckContext& c, const Path& path) {
    for (int k = 0; k < 3; ++k) {
        const bool beyond = k >= c.dimension;
        check_number(v[k], beyond ? Range::any : range, {path, static_cast<std::size_t>(k)});
        if (c.dimension == 2 && range == Range::turn && k < 2 && v[k] != 0)
            fail(path.text(), "expected a turn about z in two dimensions");
        if (beyond && v[k] != 0 && range != Range::corner && range != Range::turn && range != Range::positive)
            fail(Path(path, static_cast<std::size_t>(k)).text(), "expected 0 in two dimensions, found " + text(v[k]));
    }
    if (range == Range::direction && v == Vec3d{}) fail(path.text(), "expected a direction, found 0, 0, 0");
}

template <Described S>
void check_fields(const S& s, const CheckContext& c, const Path& path);

template <class Row, class M>
void check_value(const Row& row, const M& value, const CheckContext& c, const Path& path) {
    if constexpr (Described<M>) {
        check_fields(value, c, path);
    } else if constexpr (std::is_same_v<M, double>) {
        check_number(value, row.range, path);
    } else if constexpr (std::is_same_v<M, Vec3d>) {
        check_vector(value, row.range, c, path);
    } else if constexpr (std::is_enum_v<M>) {
        if (static_cast<std::size_t>(value) >= names_of<M>.size()) fail(path.text(), "expected one of the known kinds");
    } else if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, std::string> || std::is_pointer_v<M>) {
        // every value is good
    } else if constexpr (std::is_integral_v<M>) {
        const auto n = static_cast<std::uint64_t>(value);
        if (row.range == Range::phase && n >= c.phases)
            fail(path.text(), "expected the number of a phase below " + std::to_string(c.phases) + ", found " +
                                  std::to_string(value));
        if (row.range != Range::phase && (n < row.least || n > row.most))
            fail(path.text(), "expected a whole number from " + std::to_string(row.least) + " to " +
                                  std::to_string(row.most) + ", found " + std::to_string(value));
    } else if constexpr (requires { typename M::allocator_type; }) {
        if constexpr (Described<typename M::value_type>)
            if (value.size() < row.least || value.size() > row.most)
                fail(path.text(), "expected " + std::to_string(row.least) + " to " + std::to_string(row.most) + " " +
                                      row.name + ", found " + std::to_string(value.size()));
        using E = typename M::value_type;
        if constexpr (Described<E> || std::is_same_v<E, double> || std::is_same_v<E, Vec3d>)
            for (std::size_t k = 0; k < value.size(); ++k) check_value(row, value[k], c, {path, k});
        // triangles and pins are numbers of vertices: validate() compares
    } else {
        // periodic, open, orientation, count: arrays of which each value is good, or that validate() looks at
        static_assert(std::tuple_size_v<M> > 0);
    }
}

/// Throws Error{bad_value} with the path of the first field that is not as its row says. Cost: linear in what s holds.
template <Described S>
void check_fields(const S& s, const CheckContext& c, const Path& path) {
    for_each_field<S>([&](const auto& row) {
        if (!row.has_meaning(s)) return;
        if (row.is_group())
            check_value(row, s.*row.member, c, path);
        else
            check_value(row, s.*row.member, c, {path, row.name});
    });
}

}  // namespace quadrat::simulation
