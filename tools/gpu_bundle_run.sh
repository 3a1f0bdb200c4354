#!/usr/bin/env bash
# Run in a folder that tools/gpu_bundle made, on a machine with a GPU: run.sh tests|benchmarks|arrays|all|sanitized
# Results are also copied to $OUT if it is set.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
what=${1:-all}
out=${OUT:-$PWD/results}
mkdir -p "$out" work
export IRUKA_DEVICE=${IRUKA_DEVICE:-cuda} IRUKA_CACHE_DIR=$PWD/work/cache LD_LIBRARY_PATH=$PWD/work/lib
export PYTHONPATH=$PWD/work/site

build() {
  [ -f work/built ] && [ work/built -nt lib ] && return
  rm -rf work
  mkdir -p work/lib work/objects work/site work/tests
  for file in lib/*.xz; do
    name=$(basename "$file" .xz)
    if [ "$name" = tests.tar ]; then xz -dc "$file" | tar -x -C work/tests; else xz -dc "$file" >"work/lib/$name"; fi
  done
  cp lib/*.so.* work/lib/ 2>/dev/null
  local nanobind numpy python
  nanobind=$(python3 -c 'import nanobind, os; print(os.path.dirname(nanobind.__file__))')
  numpy=$(python3 -c 'import numpy; print(numpy.get_include())')
  python=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  local flags="-O2 -std=c++20 -fPIC -fvisibility=hidden -DNDEBUG -fno-strict-aliasing -w -Isrc/include -Isrc/src -Isrc/python/src
    -I$nanobind/include -I$nanobind/ext/robin_map/include -I$numpy -I$python"
  [ -s lib/sanitizers ] && flags+=" -fsanitize=$(cat lib/sanitizers) -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"
  ls src/python/src/*.cpp "$nanobind/src/nb_combined.cpp" | xargs -P "$(nproc)" -I{} \
    sh -c 'g++ '"$(echo $flags)"' -c {} -o work/objects/$(basename {}).o' || return 1
  cp -r src/python/iruka site/* work/site/
  # shellcheck disable=SC2086
  g++ -shared $(grep -o -e '-fsanitize=[a-z,]*' <<<"$flags") -o "work/site/iruka/_core$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')" \
    work/objects/*.o work/lib/libiruka_static.a work/lib/libiruka_compiler.so work/lib/libjpeg.so.62 work/lib/libpng16.so.16 \
    -lpthread -ldl -Wl,--exclude-libs,ALL '-Wl,-rpath,$ORIGIN/../../lib' || return 1
  [ -s lib/sanitizers ] && set_sanitizers
  IRUKA_DEVICE=$([ -s lib/sanitizers ] && echo cpu || echo "$IRUKA_DEVICE") LD_PRELOAD=${preload:-} \
    python3 -c 'import iruka; print("built", iruka.__version__, iruka.arange(3), iruka.arange(3).device)' && touch work/built
}

# Test files run in parallel, the largest first, because compiling takes most of the time.
run_tests() {
  local status=0
  rm -rf "$out/tests"
  mkdir -p "$out/tests"
  export out
  ls work/tests/* | xargs -P 8 -I{} sh -c \
    'timeout 240 {} --gtest_brief=1 >"$out/tests/cpp_$(basename {}).txt" 2>&1 || touch "$out/tests/cpp_$(basename {}).failed"'
  (cd src && ls -S tests/python/test_*.py | grep -vE "test_(source_layout|stubs)" | xargs -P "$(nproc)" -I{} sh -c \
    'timeout 400 python3 -m pytest -q -p no:cacheprovider --tb=short {} >"$out/tests/$(basename {} .py).txt" 2>&1 || { [ $? -eq 5 ] || touch "$out/tests/$(basename {} .py).failed"; }')
  for file in "$out"/tests/*.failed; do
    [ -e "$file" ] || continue
    status=1
    echo "FAILED $(basename "$file" .failed)"
    grep -E "^(FAILED|ERROR) |\[  FAILED  \]|^E  " "${file%.failed}.txt" | sort | uniq -c | sort -rn | head -n "${FAILURE_LINES:-12}"
    tail -n 1 "${file%.failed}.txt"
  done
  for file in "$out"/tests/*.txt; do echo "$(basename "$file" .txt): $(grep -vE '^$' "$file" | tail -n 1)"; done
  return $status
}

set_sanitizers() {
  . src/tools/sanitized/options.sh
  sanitize_python g++ "$(cat lib/sanitizers)" "$out/report" "$PWD/src/tools"
  export PYTHONPATH=$PYTHONPATH:$PWD/src/tools/sanitized
}

# The Python suite of a sanitized build, on the CPU. A report ends the worker that it is about, and the suite goes on.
run_sanitized() {
  [ -s lib/sanitizers ] || { echo "run.sh: not a sanitized build" >&2; return 2; }
  set_sanitizers
  (cd src && IRUKA_DEVICE=cpu LD_PRELOAD=$preload timeout "${LIMIT:-540}" python3 -m pytest tests/python -q -n "$(nproc)" --dist worksteal \
    -p no:faulthandler -p no:cacheprovider --tb=short --durations=15 --ignore=tests/python/test_source_layout.py \
    --ignore=tests/python/test_stubs.py >"$out/sanitized.txt" 2>&1)
  local status=$?
  tail -n 60 "$out/sanitized.txt"
  for report in "$out"/report*; do [ -e "$report" ] && status=1 && head -n 40 "$report"; done
  return $status
}

run_benchmarks() {
  local status=0
  python3 src/benchmarks/gpu.py --output "$out" 2>&1 | tee "$out/benchmarks.txt" || status=1
  run_arrays || status=1
  return $status
}

# The array library compared with CuPy and PyTorch; cases beyond eight minutes are left out.
run_arrays() {
  python3 src/benchmarks/arrays.py --device cuda --minutes 7.5 --output "$out" 2>&1 | tee "$out/arrays.txt"
}

build || { echo "run.sh: the Python module was not built"; exit 1; }
case $what in
  tests) run_tests ;;
  none) ;;
  sanitized) run_sanitized ;;
  benchmarks) run_benchmarks ;;
  arrays) run_arrays ;;
  all) run_tests; status=$?; run_benchmarks && exit $status ;;
  *) echo "run.sh tests|benchmarks|arrays|all|sanitized" >&2; exit 2 ;;
esac
