#include "backend/cpu/window_loops.h"

#include "backend/cpu/compiler/compiler.h"
#include "core/device.h"
#include "core/once.h"

namespace iruka::cpu_backend {
namespace {

const WindowLoops& widest_loops() {
#if defined(__x86_64__)
  // Not beyond IRUKA_CPU_LEVEL, which the target respects.
  const int64_t bytes = cpu().target().vector_bytes;
  if (bytes >= 64) return avx512::loops;
  if (bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::loops;
#endif
  return baseline::loops;
}

VectorMath double_math(int64_t bytes) {
  const auto function = [&](const char* name) { return vector_function(name, false, bytes); };
  return {function("exp"), function("expm1"), function("log1p"), function("tanh"), function("erf")};
}

}  // namespace

const WindowLoops& window_loops() {
  return *made_once_locked([] {
    const WindowLoops& loops = widest_loops();
    loops.set_math(vector_function("exp", true, loops.bytes), double_math(loops.bytes));
    return &loops;
  });
}

}  // namespace iruka::cpu_backend
