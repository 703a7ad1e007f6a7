// The whole public API.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/version.hpp>
