// Atomic operations on numbers, relaxed as CUDA's are. Each returns the value from before.
#pragma once

template <class T> IRUKA_INLINE T atomicCAS(T* p, iruka::Same<T> compare, iruka::Same<T> value) {
  __atomic_compare_exchange(p, &compare, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
template <class T> IRUKA_INLINE T atomicExch(T* p, iruka::Same<T> value) {
  T old;
  __atomic_exchange(p, &value, &old, __ATOMIC_RELAXED);
  return old;
}

namespace iruka {

/// Replaces *p by update(*p) as one step.
template <class T, class Update> IRUKA_INLINE T atomic_update(T* p, Update update) {
  T old, desired;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do desired = update(old);
  while (!__atomic_compare_exchange(p, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

}  // namespace iruka

#define IRUKA_ATOMIC(name, builtin) \
  template <class T> IRUKA_INLINE T name(T* p, iruka::Same<T> value) { return builtin(p, value, __ATOMIC_RELAXED); }
#define IRUKA_ATOMIC_UPDATE(name, expression)                                     \
  template <class T> IRUKA_INLINE T name(T* p, iruka::Same<T> value) {            \
    return iruka::atomic_update(p, [=](T old) { return (T)(expression); });       \
  }
IRUKA_ATOMIC(atomicAnd, __atomic_fetch_and)
IRUKA_ATOMIC(atomicOr, __atomic_fetch_or)
IRUKA_ATOMIC(atomicXor, __atomic_fetch_xor)
IRUKA_ATOMIC_UPDATE(atomicMin, value < old ? value : old)
IRUKA_ATOMIC_UPDATE(atomicMax, old < value ? value : old)
IRUKA_ATOMIC_UPDATE(atomicInc, old >= value ? T(0) : old + 1)
IRUKA_ATOMIC_UPDATE(atomicDec, old == T(0) || old > value ? value : old - 1)
#undef IRUKA_ATOMIC
#undef IRUKA_ATOMIC_UPDATE

template <class T> IRUKA_INLINE T atomicAdd(T* p, iruka::Same<T> value) {
  if constexpr (iruka::Integer<T>) return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
  else return iruka::atomic_update(p, [=](T old) { return (T)(old + value); });
}
template <class T> IRUKA_INLINE T atomicSub(T* p, iruka::Same<T> value) {
  if constexpr (iruka::Integer<T>) return __atomic_fetch_sub(p, value, __ATOMIC_RELAXED);
  else return iruka::atomic_update(p, [=](T old) { return (T)(old - value); });
}
