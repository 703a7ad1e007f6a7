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

sources() { find src/{base,cells,broad_phase,neighbors,voxels,ccd,simulation} -name '*.cpp' | sort; }

check() {  # NAME COMPILER...
  local name=$1 count failed
  shift
  count=$(sources | wc -l)
  failed=$(sources | xargs -P "$(nproc)" -I{} sh -c 'file=$0; "$@" "$file" || echo "$file"' {} "$@" "${flags[@]}")
  [ -z "$failed" ] || printf "$name: %s does not compile\n" $failed
  echo "$name: $count files, $(echo -n "$failed" | grep -c .) failed"
  [ -z "$failed" ]
}

status=0
check arm aarch64-linux-gnu-g++ || status=1
NODE_PATH=/usr/share/nodejs check wasm em++ -fexceptions || status=1
exit $status
