// Atomic addition of complex numbers: each part by itself, as CuPy does.
#pragma once

template <class T> IRUKA_INLINE complex<T> atomicAdd(complex<T>* p, iruka::Same<complex<T>> value) {
  T* parts = (T*)p;
  T real = atomicAdd(parts, value.real());
  return complex<T>(real, atomicAdd(parts + 1, value.imag()));
}
template <class T> IRUKA_INLINE complex<T> atomicSub(complex<T>* p, iruka::Same<complex<T>> value) {
  return atomicAdd(p, -value);
}
