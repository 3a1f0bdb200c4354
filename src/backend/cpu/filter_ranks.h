// Least and greatest values, medians, saturated differences. Part of filter_lanes.h.

template <class T, bool kIsGreatest, int kCount>
void extreme_of(const T* const* rows, int any_count, int64_t elements, T* result) {
  using L = Lanes<T>;
  const int count = kCount > 0 ? kCount : any_count;
  fill_row<L>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    typename L::Vector v = L::load(rows[0] + x);
    for (int k = 1; k < count; ++k) {
      const typename L::Vector next = L::load(rows[k] + x);
      v = kIsGreatest ? larger(v, next) : lesser(v, next);
    }
    return v;
  });
}
template <class T, bool kIsGreatest>
void extreme(const T* const* rows, int count, int64_t elements, T* result) {
  switch (count) {
    case 2: return extreme_of<T, kIsGreatest, 2>(rows, count, elements, result);
    case 3: return extreme_of<T, kIsGreatest, 3>(rows, count, elements, result);
    case 4: return extreme_of<T, kIsGreatest, 4>(rows, count, elements, result);
    default: return extreme_of<T, kIsGreatest, 0>(rows, count, elements, result);
  }
}

template <class T> void subtract(const T* a, const T* b, int64_t elements, T* result) {
  using L = Lanes<T>;
  fill_row<L>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    const typename L::Vector first = L::load(a + x), second = L::load(b + x);
    if constexpr (static_cast<T>(-1) < 0)
      return first - second;
    else
      return larger(first, second) - second;
  });
}

template <class V> IRUKA_FILTER_INLINE void exchange(V& a, V& b) {
  const V low = lesser(a, b);
  b = larger(a, b);
  a = low;
}

/// Columns of three are sorted first; neighbours share them.
template <class T> void median_of_three(const T* const* rows, int64_t step, int64_t elements, T* const* space,
                                        T* result) {
  using L = Lanes<T>;
  using V = typename L::Vector;
  const int64_t all = elements + 2 * step;
  for (int64_t x = 0; x < all; x += L::kSize) {
    V a = L::load(rows[0] + x), b = L::load(rows[1] + x), c = L::load(rows[2] + x);
    exchange(a, b);
    exchange(b, c);
    exchange(a, b);
    L::store(a, space[0] + x);
    L::store(b, space[1] + x);
    L::store(c, space[2] + x);
  }
  fill_row<L>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    const auto at = [&](int row, int k) __attribute__((always_inline)) { return L::load(space[row] + x + k * step); };
    const auto middle = [](V a, V b, V c)
                            __attribute__((always_inline)) { return larger(lesser(a, b), lesser(larger(a, b), c)); };
    const V low = larger(larger(at(0, 0), at(0, 1)), at(0, 2));
    const V high = lesser(lesser(at(2, 0), at(2, 1)), at(2, 2));
    return middle(low, middle(at(1, 0), at(1, 1), at(1, 2)), high);
  });
}

/// What remains of a sorting network of 25 if only the median, at kMedianPlace, is wanted of sorted columns of five:
/// exchanges of (row * 5 + column) that put the lesser value first.
constexpr int kMedianPlace = 16, kExchanges = 57;
constexpr signed char kMedianNetwork[kExchanges][2] = {
    {0, 3},   {1, 3},   {0, 1},   {2, 4},   {1, 2},   {3, 4},   {2, 3},   {5, 8},   {5, 7},   {6, 8},
    {5, 6},   {7, 9},   {6, 7},   {8, 9},   {7, 8},   {10, 13}, {11, 14}, {10, 12}, {11, 13}, {10, 11},
    {12, 14}, {11, 12}, {13, 14}, {12, 13}, {15, 18}, {16, 19}, {15, 17}, {16, 18}, {15, 16}, {17, 19},
    {16, 17}, {17, 18}, {20, 23}, {21, 24}, {20, 22}, {21, 23}, {20, 21}, {22, 24}, {21, 22}, {3, 15},
    {7, 11},  {4, 8},   {16, 20}, {21, 9},  {15, 11}, {4, 16},  {8, 20},  {12, 21}, {11, 8},  {21, 13},
    {11, 4},  {8, 16},  {17, 21}, {4, 12},  {8, 17},  {16, 12}, {8, 16}};

template <class T> void median_of_five(const T* const* rows, int64_t step, int64_t elements, T* const* space,
                                       T* result) {
  using L = Lanes<T>;
  using V = typename L::Vector;
  const int64_t all = elements + 4 * step;
  for (int64_t x = 0; x < all; x += L::kSize) {
    V a = L::load(rows[0] + x), b = L::load(rows[1] + x), c = L::load(rows[2] + x), d = L::load(rows[3] + x),
      e = L::load(rows[4] + x);
    exchange(a, b), exchange(d, e), exchange(c, e), exchange(c, d), exchange(a, d);
    exchange(a, c), exchange(b, e), exchange(b, d), exchange(b, c);
    L::store(a, space[0] + x), L::store(b, space[1] + x), L::store(c, space[2] + x);
    L::store(d, space[3] + x), L::store(e, space[4] + x);
  }
  fill_row<L>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    V v[25];
#pragma clang loop unroll(full)
    for (int k = 0; k < 25; ++k) v[k] = L::load(space[k / 5] + x + k % 5 * step);
#pragma clang loop unroll(full)
    for (int k = 0; k < kExchanges; ++k) exchange(v[kMedianNetwork[k][0]], v[kMedianNetwork[k][1]]);
    return v[kMedianPlace];
  });
}

/// Numbers in the order of the values of T, and how many of their bits there are.
template <class T> struct Keys {
  using Key = T;
  static constexpr int kBits = 8 * sizeof(T);
  template <class V, class K> static IRUKA_FILTER_INLINE V value(K key) { return key; }
};
template <> struct Keys<float> {
  using Key = int32_t;
  static constexpr int kBits = 32;
  template <class V, class K> static IRUKA_FILTER_INLINE V value(K key) {
    const K positive = key & 0x7fffffff, infinity = K{} + 0x7f800000;
    return (V)(key < 0 ? (positive < infinity ? positive : infinity) : ~key);  // no NaN above infinity
  }
};

/// The median is the largest value to which at most half of the window's values are less. Its bits are found from the
/// highest on, each by counting.
template <class T, class Count>
void median_by_bits(const T* const* rows, int size, int64_t step, int64_t elements, T* result) {
  constexpr int kSize = Lanes<Count>::kSize;
  using L = Lanes<T, kSize>;
  using Key = typename Keys<T>::Key;
  using K = Lanes<Key, kSize>;
  using C = Lanes<Count>;
  using Few = Lanes<Key, kSize>;  // counts of a row
  const auto half = static_cast<Count>(size * size / 2);
  fill_row<L>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    typename K::Vector found{};
    for (int bit = Keys<T>::kBits - 1; bit >= 0; --bit) {
      const typename K::Vector trial = found | K::all(static_cast<Key>(static_cast<Key>(1) << bit));
      const auto limit = Keys<T>::template value<typename L::Vector>(trial);
      typename C::Vector count{};
      for (int y = 0; y < size; ++y) {
        typename Few::Vector in_row{};
        const T* from = rows[y] + x;
        for (int k = 0; k < size; ++k, from += step) in_row -= (typename Few::Vector)(L::load(from) < limit);
        count += __builtin_convertvector(in_row, typename C::Vector);
      }
      const auto is_less = count <= C::all(half);
      const auto mask = __builtin_convertvector(is_less, typename K::Vector);
      found = (trial & mask) | (found & ~mask);
    }
    return Keys<T>::template value<typename L::Vector>(found);
  });
}

template <class T>
void median(const T* const* rows, int size, int64_t step, int64_t elements, T* const* space, T* result) {
  if (size == 1) return extreme_of<T, false, 1>(rows, 1, elements, result);
  if (size == 3) return median_of_three<T>(rows, step, elements, space, result);
  if (size == 5) return median_of_five<T>(rows, step, elements, space, result);
  if constexpr (sizeof(T) == 1) {
    if (size <= 15) return median_by_bits<T, uint8_t>(rows, size, step, elements, result);
    return median_by_bits<T, uint16_t>(rows, size, step, elements, result);
  } else if constexpr (sizeof(T) == 2) {
    return median_by_bits<T, uint16_t>(rows, size, step, elements, result);
  } else {
    return median_by_bits<T, int32_t>(rows, size, step, elements, result);
  }
}
