# How a module becomes a target. Each module of the library is one object library that links only what is below it; `quadrat`
# is made of their objects. io, render, scene_io and workloads are static libraries beside it, for the command line, tests and
# benchmarks; they are not installed.
option(QUADRAT_WITH_CCACHE "Compile through ccache where it is installed" ${PROJECT_IS_TOP_LEVEL})
if(QUADRAT_WITH_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(QUADRAT_CCACHE ccache)
  if(QUADRAT_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${QUADRAT_CCACHE})
  endif()
endif()

find_package(Threads REQUIRED)
find_package(hwy REQUIRED CONFIG)
find_package(Eigen3 3.4 REQUIRED CONFIG)
if(QUADRAT_WITH_TBB)
  find_package(TBB REQUIRED CONFIG)
endif()
if(QUADRAT_WITH_ZSTD)
  find_library(QUADRAT_ZSTD_LIBRARY zstd REQUIRED)
endif()
if(QUADRAT_BUILD_READERS)
  find_package(nlohmann_json REQUIRED CONFIG)
  find_package(PNG REQUIRED)
endif()
if(QUADRAT_BUILD_SIDE_MODULES)
  find_package(embree 3 REQUIRED)
  # Debian keeps OpenVDB's find module in a place of its own; without OpenVDB fluids are drawn as balls.
  if(QUADRAT_WITH_OPENVDB AND EXISTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/OpenVDB)
    list(APPEND CMAKE_MODULE_PATH /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/OpenVDB)
    # The module turns BUILD_SHARED_LIBS on for whoever asks; what kind of library this is stays the builder's choice.
    set(quadrat_shared_libs "${BUILD_SHARED_LIBS}")
    find_package(OpenVDB QUIET)
    set(BUILD_SHARED_LIBS "${quadrat_shared_libs}")
  endif()
endif()

# What every translation unit of the project is compiled with.
add_library(quadrat_flags INTERFACE)
target_compile_features(quadrat_flags INTERFACE cxx_std_20)
# Predicates must not be fused: docs/concepts.md, "The predicate".
target_compile_options(quadrat_flags INTERFACE -ffp-contract=off -Wall -Wextra -Wconversion -Wshadow)
# g++ 12 sees its own std::string free an address inside an object, and copy onto itself: false alarms that no code of ours
# mends.
target_compile_options(quadrat_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object -Wno-restrict>)
if(QUADRAT_WARNINGS_AS_ERRORS)
  target_compile_options(quadrat_flags INTERFACE -Werror)
endif()
if(QUADRAT_SANITIZE)
  # clang++ has no macro as g++ has for each of its sanitizers, so that tests ask for ours.
  target_compile_definitions(quadrat_flags INTERFACE QUADRAT_SANITIZED=1)
  # The first finding ends the program, which also compiles in half the time of going on.
  target_compile_options(quadrat_flags INTERFACE -fsanitize=${QUADRAT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(NOT QUADRAT_BUILD_FUZZERS)
    # Left out, since they take a quarter (clang) to a half (g++) of the time to compile: what crashes or trips the address sanitizer
    # anyway (null, vptr, object-size) and what finds least (pointer-overflow, alignment, use after scope). The fuzz preset has
    # them all.
    target_compile_options(quadrat_flags INTERFACE -fno-sanitize=null,vptr,object-size,pointer-overflow,alignment)
    if(QUADRAT_SANITIZE MATCHES "address")
      target_compile_options(quadrat_flags INTERFACE -fno-sanitize-address-use-after-scope)
    endif()
  endif()
  target_link_options(quadrat_flags INTERFACE -fsanitize=${QUADRAT_SANITIZE})
endif()
# Run-time dispatch compiles each SIMD file once per target; SSSE3 without SSE4 is not worth its share of the build.
target_compile_definitions(quadrat_flags INTERFACE "HWY_DISABLED_TARGETS=(${QUADRAT_DISABLED_SIMD_TARGETS})")
# Assertions live in every build but Release (base/assert.hpp).
target_compile_definitions(quadrat_flags INTERFACE $<$<NOT:$<CONFIG:Release>>:QUADRAT_ASSERTIONS=1>)

# Compiles the files of a target in parts of so many: headers that are slow to compile (Eigen, JSON) are read once per part. Files
# with options of their own stay alone, and so do *_simd.cpp and *_simd_test.cpp: they are compiled once per SIMD target, by
# including themselves.
function(quadrat_joined target files)
  if(QUADRAT_JOIN_FILES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    get_target_property(alone ${target} SOURCES)
    list(FILTER alone INCLUDE REGEX "_simd(_test)?\\.cpp$")
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

set(QUADRAT_MODULE_OBJECTS "" CACHE INTERNAL "")

function(quadrat_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    add_library(quadrat_${name} INTERFACE)
    target_link_libraries(quadrat_${name} INTERFACE ${arg_LINK})
    return()
  endif()
  add_library(quadrat_${name} OBJECT ${sources})
  target_link_libraries(quadrat_${name} PUBLIC ${arg_LINK} PRIVATE quadrat_flags)
  if(name STREQUAL "base")
    target_include_directories(quadrat_base PUBLIC
      ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    if(QUADRAT_WITH_TBB)
      target_link_libraries(quadrat_base PUBLIC TBB::tbb)
      target_compile_definitions(quadrat_base PUBLIC QUADRAT_HAS_TBB=1)
    endif()
  endif()
  if(name STREQUAL "voxels" AND QUADRAT_WITH_ZSTD)
    target_compile_definitions(quadrat_voxels PRIVATE QUADRAT_HAS_ZSTD=1)
  endif()
  set(QUADRAT_MODULE_OBJECTS ${QUADRAT_MODULE_OBJECTS} $<TARGET_OBJECTS:quadrat_${name}> CACHE INTERNAL "")
endfunction()

function(quadrat_side_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    add_library(quadrat_${name} STATIC ${sources})
    target_link_libraries(quadrat_${name} PUBLIC quadrat PRIVATE quadrat_flags ${arg_LINK})
    target_include_directories(quadrat_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    if(name STREQUAL "render" AND OpenVDB_FOUND)
      target_link_libraries(quadrat_render PRIVATE OpenVDB::openvdb)
      target_compile_definitions(quadrat_render PRIVATE QUADRAT_HAS_OPENVDB=1)
      set_source_files_properties(src/render/fluid_surface.cpp PROPERTIES COMPILE_OPTIONS -O2)  # a minute, not a minute and a half
    endif()
  endif()
endfunction()

# The library itself, its package files and its pkg-config file.
function(quadrat_library)
  include(CMakePackageConfigHelpers)
  add_library(quadrat ${QUADRAT_MODULE_OBJECTS})
  add_library(quadrat::quadrat ALIAS quadrat)
  target_compile_features(quadrat PUBLIC cxx_std_20)
  target_include_directories(quadrat PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(quadrat PRIVATE
    Threads::Threads hwy::hwy $<BUILD_INTERFACE:quadrat_flags> $<BUILD_INTERFACE:Eigen3::Eigen>)
  if(QUADRAT_WITH_TBB)
    target_link_libraries(quadrat PRIVATE TBB::tbb)
  endif()
  if(QUADRAT_WITH_ZSTD)
    target_link_libraries(quadrat PRIVATE zstd)
  endif()
  set_target_properties(quadrat PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

  install(TARGETS quadrat EXPORT quadrat-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/quadrat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT quadrat-targets NAMESPACE quadrat:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quadrat)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/quadrat-config.cmake.in
    ${PROJECT_BINARY_DIR}/quadrat-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quadrat)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/quadrat-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/quadrat-config.cmake ${PROJECT_BINARY_DIR}/quadrat-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quadrat)
  set(QUADRAT_PC_REQUIRES "libhwy")
  if(QUADRAT_WITH_TBB)
    string(APPEND QUADRAT_PC_REQUIRES " tbb")
  endif()
  if(QUADRAT_WITH_ZSTD)
    string(APPEND QUADRAT_PC_REQUIRES " libzstd")
  endif()
  # Relative, so that it holds wherever the package is installed.
  file(RELATIVE_PATH QUADRAT_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/quadrat.pc.in ${PROJECT_BINARY_DIR}/quadrat.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/quadrat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
