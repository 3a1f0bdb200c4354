#!/usr/bin/env bash
# Runs CTest, pytest and the fuzzer of the array functions, also after one has failed: run_tests.sh BUILD_FOLDER
# With CI=true, the comparison of the vectoriser's two paths runs 2000 random kernels instead of 500, and the fuzzer
# draws new calls for two minutes instead of half of one.
# Crashes and hangs that the fuzzer finds fail the run; other findings, one or two in 10,000 calls, are printed.
# The last line is "N passed, N failed[, N skipped]"; the exit code is 0 only when all of them passed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
python=.venv/bin/python
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export IRUKA_CACHE_DIR=$scratch/cache  # one for the run: nothing is compiled twice, and the user's own stays as it is
[ "${CI:-}" = true ] || export IRUKA_SPMD_BODIES=500
workers=$(($(nproc) < 8 ? $(nproc) : 8))
export IRUKA_TEST_PATIENCE=2  # the tests share the processors with one another
tree() { git status --porcelain 2>/dev/null; }
tree_before=$(tree)
faults=()

ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error --timeout 600 \
  --output-junit "$PWD/$results/ctest.xml" >"$results/ctest.log" 2>&1
ctest_status=$?
if [ $ctest_status -eq 0 ]; then tail -n 5 "$results/ctest.log"; else grep -Ev ' Passed |^ +Start ' "$results/ctest.log"; fi

PYTHONPATH=$PWD/$build/python $python -m pytest tests/python -q -n "$workers" --dist worksteal \
  --junitxml="$results/pytest.xml" \
  2> >(tee "$results/pytest.err" >&2)
pytest_status=$?
PYTHONPATH=$PWD/$build/python $python tests/fuzz/arrays --seconds "$([ "${CI:-}" = true ] && echo 120 || echo 30)" --quiet \
  --fail-on crash,hang \
  --junitxml "$results/arrays.xml"
arrays_status=$?
echo  # whatever the interpreter said on its way out, the closing line stands alone

[ "$(tree)" = "$tree_before" ] || faults+=("--fault=the tests left files in the tree: $(tree | diff <(echo "$tree_before") - | tr '\n' ' ')")
[ "${LINT:-passed}" = passed ] || faults+=("--fault=make lint failed: see above")
grep -q 'nanobind: leaked' "$results/pytest.err" && faults+=("--fault=the binding leaks objects")
$python tools/count_tests.py "${faults[@]}" "$results/ctest.xml" "$results/pytest.xml" "$results/arrays.xml"
counted_status=$?
[ $ctest_status -eq 0 ] && [ $pytest_status -eq 0 ] && [ $arrays_status -eq 0 ] && [ $counted_status -eq 0 ]
