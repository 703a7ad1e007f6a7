// Small simulations that use the rest of the library: a cloth that is never penetrated.
#pragma once

#include <quadrat/simulation/cloth.hpp>
