// The one place that states the version; CMake and the command line read it from here.
#pragma once

/// Major, minor and patch of the headers that are being compiled, as a string literal.
#define QUADRAT_VERSION_STRING "0.1.0"
