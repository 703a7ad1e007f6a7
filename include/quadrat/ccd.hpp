// Contact of deforming surfaces: continuous and static tests of triangle features, and whole meshes.
#pragma once

#include <quadrat/ccd/contacts.hpp>
#include <quadrat/ccd/impact.hpp>
#include <quadrat/ccd/proximity.hpp>
