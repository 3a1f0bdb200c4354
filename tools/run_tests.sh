#!/usr/bin/env bash
# Runs CTest, then pytest, whatever the first one said: run_tests.sh BUILD_FOLDER
# The last line is "N passed, N failed[, N skipped]"; the exit code is 0 only when both suites passed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
python=.venv/bin/python
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export IRUKA_CACHE_DIR=$scratch/cache  # no test sees, or leaves, anything in the user's own cache

ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error --timeout 600 \
  --output-junit "$PWD/$results/ctest.xml" >"$results/ctest.log" 2>&1
ctest_status=$?
if [ $ctest_status -eq 0 ]; then tail -n 5 "$results/ctest.log"; else grep -Ev ' Passed |^ +Start ' "$results/ctest.log"; fi

PYTHONPATH=$PWD/$build/python $python -m pytest tests/python -q --junitxml="$results/pytest.xml"
pytest_status=$?
echo  # whatever the interpreter said on its way out, the closing line stands alone

$python tools/count_tests.py "$results/ctest.xml" "$results/pytest.xml"
counted_status=$?
[ $ctest_status -eq 0 ] && [ $pytest_status -eq 0 ] && [ $counted_status -eq 0 ]
