// The loops of resampling. A source file for each instruction set includes this one, within a namespace of its own; so
// it uses no function of the standard library. Clang's vectors and its loop vectoriser serve all instruction sets; what
// needs permutations of bytes is written for AVX2 and AVX-512.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <utility>

#include "backend/cpu/resample_job.h"
#include "core/kernels/border.h"

namespace iruka::cpu_backend::IRUKA_RESAMPLE_TARGET {
namespace {

#define IRUKA_RESAMPLE_INLINE inline __attribute__((always_inline))
/// In loops that it unrolls, the compiler takes two instructions for a multiplication and addition of pairs.
#define IRUKA_RESAMPLE_KEPT_LOOP _Pragma("clang loop unroll(disable)")

constexpr int kColumnShift = 14 - kRowBits, kRowShift = 14 + kRowBits;
constexpr int32_t kRowHalf = 1 << (kRowShift - 1);

IRUKA_RESAMPLE_INLINE uint8_t to_uint8(int32_t value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

template <class T, int kCount>
struct Vectors {
  using Vector __attribute__((vector_size(kCount * sizeof(T)))) = T;
  using Unaligned __attribute__((vector_size(kCount * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
  static IRUKA_RESAMPLE_INLINE Vector load(const T* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static IRUKA_RESAMPLE_INLINE void store(Vector v, T* to) { *reinterpret_cast<Unaligned*>(to) = v; }
};

#include "backend/cpu/resample_finish.h"
#include "backend/cpu/resample_fixed.h"
#include "backend/cpu/resample_float.h"
#include "backend/cpu/resample_turn.h"
#include "backend/cpu/resample_warp.h"

}  // namespace

// NOLINTBEGIN(misc-definitions-in-headers): one source file of each namespace includes this one
const ResampleLoops resample_loops{kGroup,        kGroupsAtOnce, kWindow,       kHasWide,   kNumbers,      kFloatWindow,
                                   fixed_columns, fixed_rows,    float_columns, float_rows, select_pixels, select_bytes,
                                   warp_places,   warp,          finish,        split,      join,          turn};
// NOLINTEND(misc-definitions-in-headers)

}  // namespace iruka::cpu_backend::IRUKA_RESAMPLE_TARGET
