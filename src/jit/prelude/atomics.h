// Atomic operations that the target does not define: each is a compare-and-swap loop. The real and the imaginary part
// of a complex number are added by two atomic operations, as in CuPy.
#pragma once

#include "complex.h"

// The deleted overload makes calls on const elements fail; advice.cpp adds the reason to the compiler's message.
#define IRUKA_ATOMIC_UPDATE(name, expression)                                   \
  template <iruka::Mutable T> IRUKA_INLINE T name(T* p, iruka::Same<T> value) { \
    return iruka::atomic_update(p, [=](T old) { return (T)(expression); });     \
  }                                                                             \
  template <class T> void name(const T* p, iruka::Same<T> value) = delete;
IRUKA_ATOMIC_UPDATE(atomicAdd, old + value)
IRUKA_ATOMIC_UPDATE(atomicSub, old - value)
IRUKA_ATOMIC_UPDATE(atomicAnd, old& value)
IRUKA_ATOMIC_UPDATE(atomicOr, old | value)
IRUKA_ATOMIC_UPDATE(atomicXor, old ^ value)
IRUKA_ATOMIC_UPDATE(atomicMin, value < old ? value : old)
IRUKA_ATOMIC_UPDATE(atomicMax, old < value ? value : old)
IRUKA_ATOMIC_UPDATE(atomicInc, old >= value ? T(0) : old + 1)
IRUKA_ATOMIC_UPDATE(atomicDec, old == T(0) || old > value ? value : old - 1)
#undef IRUKA_ATOMIC_UPDATE

// The target defines these for elements that may be written.
template <class T> void atomicExch(const T* p, iruka::Same<T> value) = delete;
template <class T> void atomicCAS(const T* p, iruka::Same<T> compare, iruka::Same<T> value) = delete;

template <class T> IRUKA_INLINE complex<T> atomicAdd(complex<T>* p, iruka::Same<complex<T>> value) {
  T* parts = (T*)p;
  T real = atomicAdd(parts, value.real());
  return complex<T>(real, atomicAdd(parts + 1, value.imag()));
}
template <class T> IRUKA_INLINE complex<T> atomicSub(complex<T>* p, iruka::Same<complex<T>> value) {
  return atomicAdd(p, -value);
}
