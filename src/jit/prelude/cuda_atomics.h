// Atomic operations of the GPU for every number type. NVRTC's own functions for int, unsigned, unsigned long long,
// float and double are no templates and so take precedence. Each returns the old value.
#pragma once

namespace iruka {

struct Binary16;
struct Brain16;

/// The built-in type with T's size and sign, and the unsigned one.
template <class T> using UnsignedWord = Choose<sizeof(T) == 8, unsigned long long, unsigned>;
template <class T> using Word = Choose<is_signed<T>, Choose<sizeof(T) == 8, long long, int>, UnsignedWord<T>>;
template <class T> concept WordSized = Integer<T> && sizeof(T) >= 4;

/// The type of the compare-and-swap: the value's own size, or for a byte the four bytes around it.
template <class T> using AtomicBits = Choose<sizeof(T) == 2, unsigned short, UnsignedWord<T>>;

template <class To, class From> IRUKA_INLINE To copy_bits(From x) {
  To to{};
  memcpy(&to, &x, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return to;
}

/// Replaces *p by update(*p) atomically, unless may_store(*p) is false.
template <class T, class Update, class MayStore>
IRUKA_INLINE T atomic_update_if(T* p, Update update, MayStore may_store) {
  static_assert(sizeof(T) <= 8, "there is no atomic operation on more than eight bytes");
  using Bits = AtomicBits<T>;
  const unsigned shift = sizeof(T) == 1 ? ((uintptr_t)p & 3) * 8 : 0;
  const Bits mask = sizeof(T) == 1 ? (Bits)(0xffu << shift) : (Bits) ~(Bits)0;
  Bits* word = (Bits*)(sizeof(T) == 1 ? (uintptr_t)p & ~(uintptr_t)3 : (uintptr_t)p);
  Bits seen = *(volatile Bits*)word;
  while (true) {
    T old = copy_bits<T>((Bits)(seen >> shift));
    if (!may_store(old)) return old;
    Bits desired = (Bits)((seen & (Bits)~mask) | (Bits)(copy_bits<Bits>(update(old)) << shift));
    Bits found = atomicCAS(word, seen, desired);
    if (found == seen) return old;
    seen = found;
  }
}
template <class T, class Update> IRUKA_INLINE T atomic_update(T* p, Update update) {
  return atomic_update_if(p, update, [](T) { return true; });
}

}  // namespace iruka

template <iruka::Mutable T> IRUKA_INLINE T atomicCAS(T* p, iruka::Same<T> compare, iruka::Same<T> value) {
  using Bits = iruka::AtomicBits<T>;
  if constexpr (sizeof(T) == 1) {
    return iruka::atomic_update_if(
        p, [=](T) { return value; },
        [=](T old) { return iruka::copy_bits<Bits>(old) == iruka::copy_bits<Bits>(compare); });
  } else {
    return iruka::copy_bits<T>(atomicCAS((Bits*)p, iruka::copy_bits<Bits>(compare), iruka::copy_bits<Bits>(value)));
  }
}
template <iruka::Mutable T> IRUKA_INLINE T atomicExch(T* p, iruka::Same<T> value) {
  using Bits = iruka::AtomicBits<T>;
  if constexpr (sizeof(T) < 4)
    return iruka::atomic_update(p, [=](T) { return value; });
  else
    return iruka::copy_bits<T>(atomicExch((Bits*)p, iruka::copy_bits<Bits>(value)));
}

#define IRUKA_ATOMIC(name, Type, target)                                          \
  template <iruka::WordSized T> IRUKA_INLINE T name(T* p, iruka::Same<T> value) { \
    return (T)target((iruka::Type<T>*)p, (iruka::Type<T>)(value));                \
  }
IRUKA_ATOMIC(atomicAdd, UnsignedWord, atomicAdd)
IRUKA_ATOMIC(atomicAnd, UnsignedWord, atomicAnd)
IRUKA_ATOMIC(atomicOr, UnsignedWord, atomicOr)
IRUKA_ATOMIC(atomicXor, UnsignedWord, atomicXor)
IRUKA_ATOMIC(atomicMin, Word, atomicMin)
IRUKA_ATOMIC(atomicMax, Word, atomicMax)
#undef IRUKA_ATOMIC
template <iruka::WordSized T> IRUKA_INLINE T atomicSub(T* p, iruka::Same<T> value) {
  return atomicAdd(p, (T)(0 - value));
}
template <iruka::Floating T> IRUKA_INLINE T atomicSub(T* p, iruka::Same<T> value) { return atomicAdd(p, -value); }

/// The instruction rounds the exact sum once. The CPU rounds to float first, which gives the same result, because float
/// has more than twice as many bits.
template <iruka::Small T> IRUKA_INLINE T atomicAdd(T* p, iruka::Same<T> value) {
  uint16_t old;
  if constexpr (iruka::is_same<typename T::Format, iruka::Binary16>) {
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(value.bits_) : "memory");
    return T::from_bits(old);
#if __CUDA_ARCH__ >= 900
  } else if constexpr (iruka::is_same<typename T::Format, iruka::Brain16>) {
    asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(value.bits_) : "memory");
    return T::from_bits(old);
#endif
  } else {
    return iruka::atomic_update(p, [=](T before) { return before + value; });
  }
}
template <iruka::Small T> IRUKA_INLINE T atomicSub(T* p, iruka::Same<T> value) { return atomicAdd(p, -value); }
