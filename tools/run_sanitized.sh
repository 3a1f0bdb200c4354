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
asan=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1
tsan=second_deadlock_stack=1:die_after_fork=0:allocator_may_return_null=1  # tests fork and go on with threads in the child
export ASAN_OPTIONS=$asan UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=$tsan

ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error --timeout 1200 \
  --output-junit "$results/ctest.xml" >"$results/ctest.log" 2>&1
ctest_status=$?
if [ $ctest_status -eq 0 ]; then tail -n 5 "$results/ctest.log"; else grep -v ' Passed ' "$results/ctest.log" | tail -n 200; fi

# Python itself is not instrumented, so the sanitizer's library has to be loaded first; libstdc++ with it, for ASan looks
# up at its start what throws exceptions. One process for each file: a report ends the process that it is about.
compiler=$(awk -F= '/^CMAKE_CXX_COMPILER:/ { print $2 }' "$build/CMakeCache.txt")
library() { "$compiler" -print-file-name="$1"; }
if grep -q '^IRUKA_SANITIZE:.*thread' "$build/CMakeCache.txt"; then
  preload="$(library libtsan.so)"
else
  preload="$(library libasan.so) $(library libubsan.so)"
fi
log=log_path=$reports/report
export ASAN_OPTIONS=$asan:detect_leaks=0:$log  # the interpreter keeps its own memory until the end
export UBSAN_OPTIONS=print_stacktrace=1:$log
export TSAN_OPTIONS=$tsan:suppressions=$PWD/tools/tsan_suppressions.txt:$log
export IRUKA_TEST_PATIENCE=20  # sanitized code takes so much longer
export PYTHONMALLOC=malloc PYTHONPATH=$build/python:$PWD/tools/sanitized
run_file() {
  LD_PRELOAD="$2 $3" .venv/bin/python -m pytest "$4" -q -p no:faulthandler -p no:cacheprovider \
    --junitxml="$1/$(basename "$4" .py).xml" >"$1/$(basename "$4" .py).log" 2>&1
  local status=$?
  if [ $status -ne 0 ] && [ $status -ne 5 ]; then echo "$4: exit status $status"; tail -n 40 "$1/$(basename "$4" .py).log"; fi
}
export -f run_file
printf '%s\0' tests/python/test_*.py |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'run_file "$@"' - "$results" "$preload" "$(library libstdc++.so)"

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
