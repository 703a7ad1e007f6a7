#!/usr/bin/env bash
# install-packages.sh LIST: install the Debian packages named in LIST that are missing. As root or through sudo; without either
# it prints the one line to run and fails.
set -euo pipefail
missing=()
while read -r package; do
    [[ -z $package || $package == \#* ]] && continue
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done <"$1"
((${#missing[@]})) || exit 0
install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
echo "installing: ${missing[*]}" >&2
if ((EUID == 0)); then
    DEBIAN_FRONTEND=noninteractive bash -c "$install" >&2
elif command -v sudo >/dev/null; then
    sudo DEBIAN_FRONTEND=noninteractive bash -c "$install" >&2
else
    echo "quadrat needs packages; as root, run: $install" >&2
    exit 1
fi
