// Reads a struct from a JSON object field by field, as the rows of its table say. A member whose type is not known here
// does not compile. Lists whose entries are more than rows (bodies, say) are the business of `reader`: its
// read_list(at, list) is called for them.
#pragma once

#include "base/assert.hpp"
#include "scene_io/json.hpp"
#include "simulation/scene/scene_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

namespace quadrat::scene_io {

/// "rotation": {"axis": [x, y, z], "degrees": a} as a unit quaternion.
[[nodiscard]] std::array<double, 4> rotation_of(const JsonCursor& at);
/// A phase by its number or its name.
[[nodiscard]] std::uint32_t phase_of(const JsonCursor& at, const std::vector<Phase>& phases);

/// The struct that an entry starts from: the defaults, or what stands for them in two dimensions.
template <class S>
[[nodiscard]] S blank(int dimension) {
    S s;
    if (dimension == 2) {
        if constexpr (std::is_same_v<S, Emitter>) s.direction = {{0, -1, 0}};
        if constexpr (std::is_same_v<S, RigidBody>) s.normal = {{0, 1, 0}};
        if constexpr (std::is_same_v<S, Scene>) s.gravity = {{0, -9.81, 0}};
    }
    return s;
}

template <simulation::Described S, class Reader>
void read_fields(JsonObject& object, S& to, Reader& reader, std::initializer_list<std::string_view> but = {});

template <class Reader>
void read_array(const JsonCursor& at, std::array<bool, 3>& to, const Reader&) {  // periodic axes
    const auto axes = at.list();
    if (axes.size() > 3) at.expected("at most 3 axes");
    for (std::size_t k = 0; k < axes.size(); ++k) to[k] = axes[k].yes();
}
template <class Reader>
void read_array(const JsonCursor& at, std::array<bool, 6>& to, const Reader&) {  // open sides
    for (const JsonCursor& side : at.list()) {
        const std::size_t number = side.choice(simulation::side_names);
        if (at.dimension() == 2 && number >= 4) side.expected("a side along x or y in two dimensions");
        to[number] = true;
    }
}
template <class Reader>
void read_array(const JsonCursor& at, std::array<double, 4>& to, const Reader&) {
    to = rotation_of(at);
}

template <class Row, class M, class Reader>
void read_value(const JsonCursor& at, const Row& row, M& to, Reader& reader) {
    using simulation::Described;
    if constexpr (std::is_same_v<M, double>) {
        to = at.number(row.range);
    } else if constexpr (std::is_same_v<M, bool>) {
        to = at.yes();
    } else if constexpr (std::is_same_v<M, std::string>) {
        to = at.text();
    } else if constexpr (std::is_same_v<M, Vec3d> || std::is_same_v<M, std::optional<Vec3d>>) {
        to = row.range == Range::turn ? at.in_dimension(3).vector() : at.vector(row.range);
    } else if constexpr (std::is_enum_v<M>) {
        to = static_cast<M>(at.choice(simulation::names_of<M>));
    } else if constexpr (std::is_integral_v<M>) {
        to = static_cast<M>(row.range == Range::phase ? phase_of(at, reader.scene().phases)
                                                      : at.count(row.least, row.most));
    } else if constexpr (std::is_same_v<M, std::array<std::uint32_t, 3>>) {
        const auto values = at.list();
        if (values.size() != static_cast<std::size_t>(at.dimension())) at.expected("one number per axis");
        for (std::size_t k = 0; k < values.size(); ++k)
            to[k] = static_cast<std::uint32_t>(values[k].count(row.least, row.most));
    } else if constexpr (Described<M>) {
        JsonObject object(at);
        read_fields(object, to, reader);
        object.end();
    } else if constexpr (requires { reader.read_list(at, to); }) {
        reader.read_list(at, to);
    } else if constexpr (requires { requires Described<typename M::value_type>; }) {
        for (const JsonCursor& one : at.list()) {
            JsonObject object(one);
            auto entry = blank<typename M::value_type>(at.dimension());
            read_fields(object, entry, reader);
            object.end();
            to.push_back(std::move(entry));
        }
    } else if constexpr (requires { typename M::allocator_type; }) {
        QUADRAT_ASSERT(row.use != simulation::Use::file);  // lists of plain values are made from other keys
    } else {
        read_array(at, to, reader);
    }
}

/// A box has an inside.
template <class S>
void after_group(JsonObject& object, const S& group) {
    if constexpr (std::is_same_v<S, Box3d>) {
        const JsonCursor hi = object.need("hi");
        for (int k = 0; k < hi.dimension(); ++k)
            if (!(group.hi[k] > group.lo[k]))
                hi.inside(hi.value().at(static_cast<std::size_t>(k)), std::to_string(k)).expected("more than lo");
    }
}

/// Asks `object` for each field of S that has a meaning beside those read before it, and reads those that are there.
/// Throws bad_value with the path of the first that is wrong, or missing and needed.
/// but: names that the caller reads itself.
template <simulation::Described S, class Reader>
void read_fields(JsonObject& object, S& to, Reader& reader, std::initializer_list<std::string_view> but) {
    simulation::for_each_field<S>([&](const auto& row) {
        using Row = std::remove_cvref_t<decltype(row)>;
        if (row.use != simulation::Use::file || !row.has_meaning(to)) return;
        if (std::find(but.begin(), but.end(), row.name) != but.end()) return;
        auto& member = to.*row.member;
        if constexpr (simulation::Described<typename Row::Member>)
            if (row.is_group()) {
                read_fields(object, member, reader);
                after_group(object, member);
                return;
            }
        if constexpr (!std::is_pointer_v<typename Row::Member>)
            if (const auto at = row.needed ? std::optional(object.need(row.name)) : object.find(row.name))
                read_value(*at, row, member, reader);
    });
}

}  // namespace quadrat::scene_io
