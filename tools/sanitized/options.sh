# Sourced by what runs a sanitized build.
# sanitize_python COMPILER SANITIZERS REPORTS TOOLS: the environment in which Python can load the sanitized module. The
# sanitizers write reports to files whose names begin with REPORTS. What has to be in LD_PRELOAD is left in `preload`:
# Python itself is not instrumented, so the sanitizer's library is loaded first; libstdc++ with it, for ASan looks up at
# its start what throws exceptions.
asan_options=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1
tsan_options=second_deadlock_stack=1:die_after_fork=0:allocator_may_return_null=1  # tests fork and go on with threads

sanitize_python() {
  local libraries=libtsan.so library
  [ "$2" = thread ] || libraries="libasan.so libubsan.so"
  preload=
  for library in $libraries libstdc++.so; do preload+="$("$1" -print-file-name=$library) "; done
  export ASAN_OPTIONS=$asan_options:detect_leaks=0:log_path=$3  # the interpreter keeps its own memory until the end
  export UBSAN_OPTIONS=print_stacktrace=1:log_path=$3
  export TSAN_OPTIONS=$tsan_options:suppressions=$4/tsan_suppressions.txt:log_path=$3
  export IRUKA_TEST_PATIENCE=20  # sanitized code takes so much longer
  export PYTHONMALLOC=malloc
}
