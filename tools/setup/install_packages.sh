#!/usr/bin/env bash
# Installs the missing packages of debian-packages.txt for the given purposes: install_packages.sh build test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "not a Debian system: install what debian-packages.txt lists by hand" >&2
  exit 0
fi

packages=()
for purpose in "$@"; do
  mapfile -t -O "${#packages[@]}" packages < <(awk -v p="$purpose" '!/^#/ && $2 == p { print $1 }' debian-packages.txt)
done

missing=()
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${packages[@]}" 2>/dev/null | awk '/^ii/ { print $NF }' || true)
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "installing Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq "$@"; }
apt update
apt install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
