// A quotient by a number that stays the same, without division: Granlund and Montgomery (1994), for n < 2^31.
#pragma once

static __forceinline__ unsigned iruka_divide(unsigned n, unsigned magic, unsigned shift) {
  return __umulhi(2 * n, magic) >> shift;
}
