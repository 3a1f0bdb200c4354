#include "backend/cpu/window_loops.h"

#include "core/device.h"

namespace iruka::cpu_backend {

const WindowLoops& window_loops() {
#if defined(__x86_64__)
  // Not beyond IRUKA_CPU_LEVEL, which the target respects.
  const int64_t bytes = cpu().target().vector_bytes;
  if (bytes >= 64) return avx512::loops;
  if (bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::loops;
#endif
  return baseline::loops;
}

}  // namespace iruka::cpu_backend
