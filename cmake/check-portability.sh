#!/usr/bin/env bash
# Compiles the library's sources (base to simulation) for 64-bit ARM and for WebAssembly, without making anything: what is
# promised is that they compile there. Highway and Eigen are headers, so those of the machine serve. WebAssembly is without
# -msimd128: Highway's vectors there have no double in version 1.0.
set -u
cd "$(dirname "$0")/.."
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
ln -s /usr/include/hwy "$headers/hwy"
disabled=$(sed -n 's/^set(QUADRAT_DISABLED_SIMD_TARGETS "\([^"]*\)".*/\1/p' CMakeLists.txt)
flags=(-std=c++20 -fsyntax-only -ffp-contract=off -Wall -Wextra -Iinclude -Isrc -isystem /usr/include/eigen3
       -idirafter "$headers" "-DHWY_DISABLED_TARGETS=($disabled)")

check() {  # NAME COMPILER...
  local name=$1 failed=0 count=0
  shift
  for file in src/{base,cells,broad_phase,neighbors,voxels,ccd,simulation}/*.cpp; do
    "$@" "${flags[@]}" "$file" || { echo "$name: $file does not compile"; failed=$((failed + 1)); }
    count=$((count + 1))
  done
  echo "$name: $count files, $failed failed"
  return $((failed > 0))
}

status=0
check arm aarch64-linux-gnu-g++ || status=1
NODE_PATH=/usr/share/nodejs check wasm em++ -fexceptions || status=1
exit $status
