#!/usr/bin/env bash
# tidy.sh BUILD [MODULE...]: clang-tidy 14 with the list of .clang-tidy over the sources of these modules of src/ (all: every
# one), with the compile commands of BUILD. Without a module: those that differ from origin/main, or from the commit before
# where there is no origin. Vector files are read for one SIMD target only: the others are the same text. Files that BUILD
# does not compile (src/distributed without MPI) are passed over, and so are warnings of the compiler, which the builds show.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
if (($# == 0)); then
    base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1 2>/dev/null || git rev-parse HEAD)
    [[ $base != $(git rev-parse HEAD) ]] || base=$(git rev-parse HEAD~1 2>/dev/null || echo "$base")
    changed=$( (git diff --name-only "$base"; git ls-files --others --exclude-standard) |
        sed -nE 's#^(src|include/quadrat)/([a-z_]+)(/.*|\.hpp)$#\2#p' | sort -u)
    set -- $changed
fi
[[ ${1-} != all ]] || set -- $(ls src)
files=()
for module in "$@"; do
    [[ ! -d src/$module ]] || mapfile -t -O ${#files[@]} files < <(find "src/$module" -name '*.cpp' | sort |
        while read -r file; do if grep -qF "/$file\"" "$build/compile_commands.json"; then echo "$file"; fi; done)
done
echo "clang-tidy: ${#files[@]} files of: $*"
((${#files[@]})) || exit 0
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" \
    clang-tidy-14 -p "$build" --quiet --extra-arg=-DHWY_COMPILE_ONLY_STATIC --extra-arg=-Wno-unknown-warning-option --extra-arg=-w
