// Vectors of compiled loops, a part of headers that source files for an instruction set include: within their
// namespaces, after <utility>, and without functions of the standard library.

#define IRUKA_LANES_INLINE inline __attribute__((always_inline))
#define IRUKA_LANES_LAMBDA __attribute__((always_inline))

/// A number as a type.
template <int kValue>
struct Number {
  static constexpr int value = kValue;
};
/// Calls `use` with 0, 1... as types, so that what it indexes becomes registers.
template <int kCount, class Use>
IRUKA_LANES_INLINE void repeat(Use&& use) {
  [&]<int... k>(std::integer_sequence<int, k...>)
      IRUKA_LANES_LAMBDA { (use(Number<k>()), ...); }(std::make_integer_sequence<int, kCount>());
}

template <class T, int kBytes>
struct Lanes {
  static constexpr int count = kBytes / static_cast<int>(sizeof(T));
  using Vector __attribute__((vector_size(kBytes))) = T;
  using Unaligned __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias)) = T;

  static IRUKA_LANES_INLINE Vector load(const T* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static IRUKA_LANES_INLINE void store(Vector v, T* to) { *reinterpret_cast<Unaligned*>(to) = v; }
  static IRUKA_LANES_INLINE Vector all(T value) { return value - Vector{}; }
  static IRUKA_LANES_INLINE Vector at_least(Vector v, Vector least) { return v < least ? least : v; }
  static IRUKA_LANES_INLINE Vector at_most(Vector v, Vector most) { return v > most ? most : v; }
  /// The first `size` ones, fewer than `count`, and zeros.
  static IRUKA_LANES_INLINE Vector load_first(const T* from, int64_t size) {
    T values[count]{};
    copy_first(from, values, size);
    return load(values);
  }
  static IRUKA_LANES_INLINE void store_first(Vector v, T* to, int64_t size) {
    T values[count];
    store(v, values);
    copy_first(values, to, size);
  }

 private:
  /// In pieces of half as many elements each, which need no loop.
  static IRUKA_LANES_INLINE void copy_first(const T* from, T* to, int64_t size) {
    int64_t at = 0;
    repeat<4>([&](auto k) IRUKA_LANES_LAMBDA {
      constexpr int kPiece = 8 >> k.value;
      if constexpr (kPiece < count) {
        if (!(size & kPiece)) return;
        __builtin_memcpy(to + at, from + at, kPiece * sizeof(T));
        at += kPiece;
      }
    });
  }
};
