// Keys of a scene file that no member of a struct stands for: the reader makes something of them. Listed for
// docs/scenes.md; a test compares the list with what the reader asks for.
#pragma once

#include "scene_io/scene_file.hpp"

#include <span>

namespace quadrat::scene_io {

struct ExtraKey {
    const char* name;
    const char* otherwise;  ///< the default
    const char* unit;       ///< and range
    const char* about;
};

/// Of the entries that become an S.
template <class S>
inline constexpr std::span<const ExtraKey> extra_keys = {};

inline constexpr ExtraKey color_key = {"color", "chosen", "", "Such as `\"#1f6fb2\"`."};

inline constexpr ExtraKey scene_keys[] = {
    {"about", "", "", "What the scene shows; for people."},
    {"view", "", "", "The pictures, below."},
    {"variants", "none", "",
     "Named changes to the file: `--variant NAME` puts the keys of that object in place (JSON merge patch; lists as a "
     "whole)."}};
template <>
inline constexpr std::span<const ExtraKey> extra_keys<Scene> = scene_keys;

inline constexpr ExtraKey phase_keys[] = {color_key};
template <>
inline constexpr std::span<const ExtraKey> extra_keys<Phase> = phase_keys;

inline constexpr ExtraKey particle_keys[] = {
    {"positions", "needed, or `file`", "m", "A list of points."},
    {"file", "needed, or `positions`", "m", "Points in `.npy .csv .xyz .ply`, next to the scene."},
    {"velocity", "0", "m/s", "Of all of them, at the start."}};
template <>
inline constexpr std::span<const ExtraKey> extra_keys<FluidParticles> = particle_keys;

inline constexpr ExtraKey body_keys[] = {
    {"shape", "`sphere`", "", "`sphere`, `box`, `plane`, `mesh` or `torus`."},
    {"tube", "needed", "m, above 0", "torus: radius of its tube, less than `radius`."},
    {"file", "needed", "", "mesh: a closed `.obj` or `.ply` next to the scene."},
    {"scale", "1", "above 0", "mesh: times its size."},
    {"height", "-", "m, above 0", "mesh: scales it to this height and puts its lowest point at the origin."},
    {"center", "false", "", "mesh: its middle over the origin, its lowest point in it."},
    {"y_up", "false", "", "mesh: the file's y points up."},
    color_key,
    {"array", "none", "",
     "Copies: `{\"count\": [nx, ny, nz], \"step\": [dx, dy, dz]}`, the first at `position`; at most 100000."},
    {"scatter", "none", "",
     "Spheres at random places: `{\"count\", \"lo\", \"hi\", \"radius\": [least, most], \"gap\", \"seed\"}`; they "
     "never touch."}};
template <>
inline constexpr std::span<const ExtraKey> extra_keys<RigidBody> = body_keys;

inline constexpr ExtraKey cloth_keys[] = {
    {"sheet", "needed, or `file`", "",
     "`{\"cells\": [n, m], \"size\": [a, b], \"center\": [x, y, z], \"rotation\": {...}, \"sag\": d}`, which hangs d "
     "metres deep between its edges."},
    {"file", "needed, or `sheet`", "", "A mesh, `.obj` or `.ply`, next to the scene."},
    {"position", "0", "m", "Of a mesh."},
    {"scale", "1", "above 0", "Of a mesh, as in `bodies`."},
    {"height", "-", "m, above 0", "Of a mesh, as in `bodies`."},
    {"center", "false", "", "Of a mesh, as in `bodies`."},
    {"y_up", "false", "", "Of a mesh, as in `bodies`."},
    {"pins", "none", "", "`\"corners\"` of a sheet, or a list of vertices: they are held."},
    color_key};
template <>
inline constexpr std::span<const ExtraKey> extra_keys<SceneCloth> = cloth_keys;

}  // namespace quadrat::scene_io
