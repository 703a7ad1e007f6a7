// Contact of deforming surfaces: continuous and static tests of triangle features, and whole meshes.
//
//     contacts.hpp    find_contacts: meshes that move during a step, from start to finish
//     earliest.hpp    earliest_time: how far they may move
//     impact.hpp      find_impact, impact_times: one vertex and face, or two edges, that move
//     proximity.hpp   closest_points, triangles_intersect: the same at rest
//     potential.hpp   distances with derivatives, barrier and friction, for solvers
//
// docs/guides/contact.md shows how, docs/reference/ccd.md why no answer is wrong.
#pragma once

#include <quadrat/ccd/contacts.hpp>
#include <quadrat/ccd/earliest.hpp>
#include <quadrat/ccd/impact.hpp>
#include <quadrat/ccd/potential.hpp>
#include <quadrat/ccd/proximity.hpp>
