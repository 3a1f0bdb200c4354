// Atomic operations of the processor with relaxed memory order, as in CUDA. Each returns the old value.
#pragma once

template <iruka::Mutable T> IRUKA_INLINE T atomicCAS(T* p, iruka::Same<T> compare, iruka::Same<T> value) {
  __atomic_compare_exchange(p, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
template <iruka::Mutable T> IRUKA_INLINE T atomicExch(T* p, iruka::Same<T> value) {
  T old;
  __atomic_exchange(p, &value, &old, __ATOMIC_RELAXED);
  return old;
}

namespace iruka {

/// Replaces *p by update(*p) atomically.
template <class T, class Update> IRUKA_INLINE T atomic_update(T* p, Update update) {
  T old, desired;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do desired = update(old);
  while (!__atomic_compare_exchange(p, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace iruka

#define IRUKA_ATOMIC(name, builtin)                                             \
  template <iruka::Integer T> IRUKA_INLINE T name(T* p, iruka::Same<T> value) { \
    return builtin(p, value, __ATOMIC_RELAXED);                                 \
  }
IRUKA_ATOMIC(atomicAdd, __atomic_fetch_add)
IRUKA_ATOMIC(atomicSub, __atomic_fetch_sub)
IRUKA_ATOMIC(atomicAnd, __atomic_fetch_and)
IRUKA_ATOMIC(atomicOr, __atomic_fetch_or)
IRUKA_ATOMIC(atomicXor, __atomic_fetch_xor)
#undef IRUKA_ATOMIC
