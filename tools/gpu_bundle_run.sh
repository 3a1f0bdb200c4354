#!/usr/bin/env bash
# Run in a folder that tools/gpu_bundle made, on a machine with a GPU: run.sh tests|benchmarks|arrays|all|sanitized [asan] [tsan]
# Results are also copied to $OUT if it is set.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
what=${1:-all}
out=${OUT:-$PWD/results}
mkdir -p "$out" work
export IRUKA_DEVICE=${IRUKA_DEVICE:-cuda} IRUKA_CACHE_DIR=$PWD/work/cache LD_LIBRARY_PATH=$PWD/work/lib
export PYTHONPATH=$PWD/work/site

unpack() {
  rm -rf work
  mkdir -p work/lib work/tests
  for file in lib/*.xz; do
    name=$(basename "$file" .xz)
    case $name in
      tests.tar) xz -dc "$file" | tar -x -C work/tests ;;
      texts.tar) xz -dc "$file" | tar -x ;;
      *) xz -dc "$file" >"work/lib/$name" ;;
    esac
  done
  cp lib/*.so.* work/lib/ 2>/dev/null
}

# make_module SITE LIBRARY [FLAGS]: compiles the binding and links it with the library, as a package in SITE.
make_module() {
  local nanobind numpy python objects=$1.objects
  nanobind=$(python3 -c 'import nanobind, os; print(os.path.dirname(nanobind.__file__))')
  numpy=$(python3 -c 'import numpy; print(numpy.get_include())')
  python=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  local flags="-O2 -std=c++20 -fPIC -fvisibility=hidden -DNDEBUG -fno-strict-aliasing -w -Isrc/include -Isrc/src -Isrc/python/src
    -I$nanobind/include -I$nanobind/ext/robin_map/include -I$numpy -I$python ${3:-}"
  mkdir -p "$1" "$objects"
  ls src/python/src/*.cpp "$nanobind/src/nb_combined.cpp" | xargs -P "$(nproc)" -I{} \
    sh -c 'g++ '"$(echo $flags)"' -c {} -o '"$objects"'/$(basename {}).o' || return 1
  cp -r src/python/iruka site/* "$1"
  # shellcheck disable=SC2086
  g++ -shared ${3:-} -o "$1/iruka/_core$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')" \
    "$objects"/*.o "$2" work/lib/libiruka_compiler.so work/lib/libjpeg.so.62 work/lib/libpng16.so.16 \
    work/lib/libwebp.so.7 work/lib/libtiff.so.6 work/lib/libgif.so.7 work/lib/libz.so.1 -lpthread -ldl -Wl,--exclude-libs,ALL '-Wl,-rpath,$ORIGIN/../../lib'
}

build() {
  [ -f work/built ] && [ work/built -nt lib ] && return
  unpack
  make_module work/site work/lib/libiruka_static.a || return 1
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

# The Python suite under each sanitizer, on the CPU. A report ends the worker that it is about, and the suite goes on.
run_sanitized() {
  local name status=0 names=${*:-asan tsan}
  for name in $names; do make_library "$name" || return 1; done
  for name in $names; do run_with_sanitizer "$name" $(($(nproc) / $(wc -w <<<"$names"))) >"$out/$name.txt" 2>&1 & done
  wait
  for name in $names; do
    tail -n 40 "$out/$name.txt" | cut -c1-300
    for report in "$out/$name".report*; do [ -e "$report" ] && status=1 && head -n 40 "$report"; done
  done
  return $status
}

sanitizers_of() { [ "$1" = tsan ] && echo thread || echo address,undefined; }
sanitizer_flags() { echo "-fsanitize=$(sanitizers_of "$1") -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"; }

# make_library NAME: work/lib/NAME.a of all but the compiler, and the Python module in work/NAME.
make_library() {
  local objects=work/$1.library flags
  flags="-O1 -std=c++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -DNDEBUG -DXXH_INLINE_ALL -w -Isrc/include
    -Isrc/src -isystem headers $(sanitizer_flags "$1")"
  mkdir -p "$objects"
  (cd src && find src generated -name '*.cpp' ! -path '*/cpu/compiler/*' ! -path '*/cpu/spmd/*' '(' -name 'fft_lanes_*' -o ! -name '*_lanes_*' ')') | xargs -P "$(nproc)" -I{} sh -c '
    case {} in *_avx2.cpp) own="-mavx2 -mfma" ;; */vector_sort_x86.cpp) own=-fno-strict-aliasing ;; esac
    g++ '"$(echo $flags)"' -DIRUKA_OPENBLAS_PATH=\"\" $own -c src/{} -o '"$objects"'/$(echo {} | tr / _).o' || return 1
  # Clang, which is not here, compiles these.
  (cd "$objects" && ar t ../lib/libiruka_static.a | grep _lanes_ | grep -v '^fft_lanes_' | xargs ar x ../lib/libiruka_static.a)
  ar rcs "work/lib/$1.a" "$objects"/*.o
  make_module "work/$1" "work/lib/$1.a" "$(sanitizer_flags "$1")"
}

# run_with_sanitizer NAME WORKERS
run_with_sanitizer() {
  . src/tools/sanitized/options.sh
  sanitize_python g++ "$(sanitizers_of "$1")" "$out/$1.report" "$PWD/src/tools"
  TSAN_OPTIONS+=:detect_deadlocks=0  # fork() holds more locks than its detector counts
  cd src && IRUKA_DEVICE=cpu LD_PRELOAD=$preload PYTHONPATH=$PWD/../work/$1:$PWD/tools/sanitized \
    IRUKA_CACHE_DIR=$PWD/../work/$1.cache timeout --signal=INT --kill-after=30 "${LIMIT:-540}" python3 -m pytest tests/python -q -n "$2" \
    --dist worksteal -p no:faulthandler -p no:cacheprovider --tb=short --durations=10 \
    --ignore=tests/python/test_source_layout.py --ignore=tests/python/test_stubs.py
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
  sanitized) run_sanitized "${@:2}" ;;
  benchmarks) run_benchmarks ;;
  arrays) run_arrays ;;
  all) run_tests; status=$?; run_benchmarks && exit $status ;;
  *) echo "run.sh tests|benchmarks|arrays|all|sanitized [asan] [tsan]" >&2; exit 2 ;;
esac
