#!/usr/bin/env bash
# Runs the C++ suite, then the Python suite on the sanitized module, of a sanitizer build: run_sanitized.sh BUILD
# The last line is "N passed, N failed[, N skipped]". Reports that a sanitizer wrote are shown; one of them is a failure.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$PWD/$1
results=$build/test-results reports=$build/reports
rm -rf "$results" "$reports"
mkdir -p "$results" "$reports"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export IRUKA_CACHE_DIR=$scratch/cache
. tools/sanitized/options.sh
export ASAN_OPTIONS=$asan_options UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=$tsan_options

ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error --timeout 1200 \
  --output-junit "$results/ctest.xml" >"$results/ctest.log" 2>&1
ctest_status=$?
if [ $ctest_status -eq 0 ]; then tail -n 5 "$results/ctest.log"; else grep -v ' Passed ' "$results/ctest.log" | tail -n 200; fi

# One process for each file: a report ends the process that it is about.
compiler=$(awk -F= '/^CMAKE_CXX_COMPILER:/ { print $2 }' "$build/CMakeCache.txt")
sanitize_python "$compiler" "$(sed -n 's/^IRUKA_SANITIZE:STRING=//p' "$build/CMakeCache.txt")" "$reports/report" "$PWD/tools"
export PYTHONPATH=$build/python:$PWD/tools/sanitized
run_file() {
  LD_PRELOAD="$2" .venv/bin/python -m pytest "$3" -q -p no:faulthandler -p no:cacheprovider \
    --junitxml="$1/$(basename "$3" .py).xml" >"$1/$(basename "$3" .py).log" 2>&1
  local status=$?
  if [ $status -ne 0 ] && [ $status -ne 5 ]; then echo "$3: exit status $status"; tail -n 40 "$1/$(basename "$3" .py).log"; fi
}
export -f run_file
printf '%s\0' tests/python/test_*.py |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'run_file "$@"' - "$results" "$preload"

faults=()
for report in "$reports"/*; do
  [ -e "$report" ] || continue
  head -n 60 "$report"
  faults+=("--fault=$report")
done
.venv/bin/python tools/count_tests.py "${faults[@]}" "$results/ctest.xml" \
  $(for file in tests/python/test_*.py; do echo "$results/$(basename "$file" .py).xml"; done)
counted_status=$?
[ $ctest_status -eq 0 ] && [ $counted_status -eq 0 ]
