#!/usr/bin/env bash
# Runs the C++ suite of a sanitizer build: run_sanitized.sh BUILD. Nothing is suppressed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export IRUKA_CACHE_DIR=$scratch/cache
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=second_deadlock_stack=1:die_after_fork=0  # tests fork and go on with threads in the child
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error --timeout 1200 >"$build/ctest.log" 2>&1
status=$?
if [ $status -eq 0 ]; then tail -n 5 "$build/ctest.log"; else grep -v ' Passed ' "$build/ctest.log" | tail -n 200; fi
exit $status
