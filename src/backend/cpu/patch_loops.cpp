#include "backend/cpu/patch_job.h"
#include "core/device.h"

namespace iruka::cpu_backend {

const PatchLoops& patch_loops() {
#if defined(__x86_64__)
  // Not beyond IRUKA_CPU_LEVEL, which the target respects.
  const int64_t bytes = cpu().target().vector_bytes;
  if (bytes >= 64 && __builtin_cpu_supports("avx512vnni")) return avx512_vnni::patch_loops;
  if (bytes >= 64) return avx512::patch_loops;
  if (bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::patch_loops;
#endif
  return baseline::patch_loops;
}

}  // namespace iruka::cpu_backend
