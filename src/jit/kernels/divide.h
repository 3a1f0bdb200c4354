// Division by an invariant number as a multiplication: Granlund and Montgomery (1994), for n < 2^31.
#pragma once

static __forceinline__ unsigned iruka_divide(unsigned n, unsigned magic, unsigned shift) {
  return __umulhi(2 * n, magic) >> shift;
}
