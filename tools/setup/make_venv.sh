#!/usr/bin/env bash
# Creates .venv or updates it with the given requirement lists: make_venv.sh build test
# A list is installed once: its hash is kept in .venv. PYTHON names the base interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usable() {  # new enough for the pinned packages, with headers and able to make environments
  "$1" - 2>/dev/null <<'PY'
import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 11) and sys.prefix == sys.base_prefix
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
PY
}

if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
  chosen=
  for candidate in ${PYTHON:-/usr/bin/python3 python3 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null && usable "$candidate"; then chosen=$candidate; break; fi
  done
  [ -n "$chosen" ] || { echo "no Python 3.11 or newer with headers and venv found; set PYTHON" >&2; exit 1; }
  rm -rf .venv
  "$chosen" -m venv .venv
fi

for list in "$@"; do
  hash=$(sha256sum <"requirements/$list.txt" | cut -d' ' -f1)
  stamp=.venv/.installed-$list
  if [ "$(cat "$stamp" 2>/dev/null || true)" != "$hash" ]; then
    echo "installing requirements/$list.txt into .venv"
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-input -r "requirements/$list.txt"
    echo "$hash" >"$stamp"
  fi
done
