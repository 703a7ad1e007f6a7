// The one place that states the version; CMake and the command line read it from here.
#pragma once

#define QUADRAT_VERSION_STRING "0.1.0"
