#!/usr/bin/env bash
# Runs fuzz targets for so many seconds each, all of them even when one finds something:
# run_fuzzers.sh BUILD SECONDS [TARGET...], by default every one ("jpeg png": fuzz_jpeg and fuzz_png).
# New inputs gather in BUILD/corpus, findings in BUILD/findings.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 seconds=$2
targets=${*:3}
export IRUKA_CACHE_DIR=$PWD/$build/cache
passed=0 failed=0
mkdir -p "$build/findings"
for name in ${targets:-$(basename -s .cpp tests/fuzz/fuzz_*.cpp)}; do
  name=fuzz_${name#fuzz_}
  mkdir -p "$build/corpus/$name"
  folders=("$build/corpus/$name")
  seeds=tests/fuzz/seeds/${name#fuzz_}
  [ -d "$seeds" ] && folders+=("$seeds")
  if "$build/tests/fuzz/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" "${folders[@]}" >"$build/$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "$name: no finding in $(awk '/stat::number_of_executed_units/ { print $2 }' "$build/$name.log") runs"
  else
    failed=$((failed + 1))
    echo "$name: FINDING, see $build/$name.log"
    grep -E -m 3 'ERROR|SUMMARY|runtime error' "$build/$name.log"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
