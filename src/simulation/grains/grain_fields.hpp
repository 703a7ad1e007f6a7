// The tables of the structs of include/quadrat/simulation/grains.hpp, as scene/scene_fields.hpp has those of a scene:
// the reader of grain scenes follows from them. A member without a row does not compile.
#pragma once

#include <quadrat/simulation/grains.hpp>

#include "simulation/scene/fields.hpp"

namespace quadrat::simulation {

template <>
inline constexpr std::array names_of<GrainShape> = {"sphere", "box", "capsule", "convex"};
template <>
inline constexpr std::array names_of<GrainContacts> = {"hard", "linear_spring", "hertz"};

template <>
struct FieldsOf<GrainSurface> {
    using S = GrainSurface;
    static constexpr std::tuple rows = {
        field("friction", &S::friction, "", "Coulomb's coefficient.").in(Range::not_negative),
        field("restitution", &S::restitution, "", "Share of the normal speed that comes back.").in(Range::share),
        field("rolling", &S::rolling, "", "Largest torque against rolling, over force and radius; spheres only.")
            .in(Range::not_negative)};
};

template <>
struct FieldsOf<Grain> {
    using S = Grain;
    static constexpr std::tuple rows = {
        field("shape", &S::shape, "", "Which of the sizes count."),
        field("radius", &S::radius, "m", "Of a sphere or capsule.").in(Range::positive).when([](const S& s) {
            return s.shape == GrainShape::sphere || s.shape == GrainShape::capsule;
        }),
        field("size", &S::size, "m", "Whole edges of a box.").in(Range::positive).when([](const S& s) {
            return s.shape == GrainShape::box;
        }),
        field("length", &S::length, "m", "Of a capsule, between the centres of its caps, along z.")
            .in(Range::positive)
            .when([](const S& s) { return s.shape == GrainShape::capsule; }),
        field("hull", &S::hull, "", "").as(Use::made),
        field("density", &S::density, "kg/m³", "Mass of a cubic metre.").in(Range::positive),
        field("position", &S::position, "m", "Of the centre of mass."),
        field("rotation", &S::orientation, "", "`{\"axis\", \"degrees\"}`."),
        field("velocity", &S::velocity, "m/s", "At the start."),
        field("angular_velocity", &S::angular_velocity, "rad/s", "At the start, in the world's axes.").in(Range::turn),
        group(&S::surface)};
};

template <>
struct FieldsOf<GrainPlane> {
    using S = GrainPlane;
    static constexpr std::tuple rows = {
        field("normal", &S::normal, "", "Points to the grains.").in(Range::direction).must(),
        field("offset", &S::offset, "m", "dot(n, x) >= offset holds the grains, n being `normal` at unit length."),
        group(&S::surface)};
};

template <>
struct FieldsOf<GrainWall> {
    using S = GrainWall;
    static constexpr std::tuple rows = {
        field("triangles", &S::triangles, "", "").as(Use::made),
        field("vertices", &S::vertices, "m", "").as(Use::made),
        field("position", &S::position, "m", "Of the wall's origin."),
        field("rotation", &S::orientation, "", "`{\"axis\", \"degrees\"}`."),
        field("velocity", &S::velocity, "m/s", "It moves so, whatever it meets."),
        field("angular_velocity", &S::angular_velocity, "rad/s", "About its origin, in the world's axes."),
        group(&S::surface)};
};

template <>
struct FieldsOf<GrainOptions> {
    using S = GrainOptions;
    static constexpr std::tuple rows = {
        field("executor", &S::executor, "", "").as(Use::run_time),
        field("watch", &S::watch, "", "").as(Use::run_time),
        field("dimension", &S::dimension, "", "Of space: 2 has discs.").from(2, 3),
        field("gravity", &S::gravity, "m/s²", "Pulls everything."),
        field("substeps", &S::substeps, "", "Parts of a step.").from(1, 1000),
        field("contacts", &S::contacts, "", "How grains that touch push each other."),
        field("stiffness", &S::stiffness, "N/m, Pa", "Of springs; needed with them.").in(Range::positive_or_unset),
        field("bounce_speed", &S::bounce_speed, "m/s", "Slower meetings do not bounce.").in(Range::positive_or_unset),
        field("sleep_speed", &S::sleep_speed, "m/s", "Below it grains come to rest.").in(Range::positive_or_unset),
        field("sleep_time", &S::sleep_time, "s", "So long, and they sleep.").in(Range::until).or_else("never"),
        field("margin", &S::margin, "", "Pairs are looked for so far ahead, in radii.").in(Range::share)};
};

static_assert(described<GrainSurface>() && described<Grain>() && described<GrainPlane>());
static_assert(described<GrainWall>() && described<GrainOptions>());

}  // namespace quadrat::simulation
