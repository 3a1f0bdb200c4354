// Least and greatest values, medians, saturated differences. Part of filter_lanes.h.

/// kCount is 0 for more than eight.
template <class T, bool kIsGreatest, int kCount>
void extreme_of(const T* const* rows, int any_count, int64_t elements, T* result) {
  using L = Lanes<T>;
  const auto join = [](typename L::Vector a, typename L::Vector b)
                        __attribute__((always_inline)) { return kIsGreatest ? larger(a, b) : lesser(a, b); };
  if constexpr (kCount > 0) {
    fill_row<L, 4>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
      typename L::Vector v = L::load(rows[0] + x);
#pragma clang loop unroll(full)
      for (int k = 1; k < kCount; ++k) v = join(v, L::load(rows[k] + x));
      return v;
    });
  } else {
    constexpr int kAtOnce = 4;
    int64_t x = 0;
    for (; x + kAtOnce * L::kSize <= elements; x += kAtOnce * L::kSize) {
      typename L::Vector v[kAtOnce];
      for (int u = 0; u < kAtOnce; ++u) v[u] = L::load(rows[0] + x + u * L::kSize);
      for (int k = 1; k < any_count; ++k) {
        const T* const row = rows[k] + x;
        for (int u = 0; u < kAtOnce; ++u) v[u] = join(v[u], L::load(row + u * L::kSize));
      }
      for (int u = 0; u < kAtOnce; ++u) L::store(v[u], result + x + u * L::kSize);
    }
    fill_row<L>(elements - x, result + x, [&](int64_t rest) __attribute__((always_inline)) {
      typename L::Vector v = L::load(rows[0] + x + rest);
      for (int k = 1; k < any_count; ++k) v = join(v, L::load(rows[k] + x + rest));
      return v;
    });
  }
}
template <class T, bool kIsGreatest>
void extreme(const T* const* rows, int count, int64_t elements, T* result) {
  switch (count) {
    case 1: return extreme_of<T, kIsGreatest, 1>(rows, count, elements, result);
    case 2: return extreme_of<T, kIsGreatest, 2>(rows, count, elements, result);
    case 3: return extreme_of<T, kIsGreatest, 3>(rows, count, elements, result);
    case 4: return extreme_of<T, kIsGreatest, 4>(rows, count, elements, result);
    case 5: return extreme_of<T, kIsGreatest, 5>(rows, count, elements, result);
    case 6: return extreme_of<T, kIsGreatest, 6>(rows, count, elements, result);
    case 7: return extreme_of<T, kIsGreatest, 7>(rows, count, elements, result);
    case 8: return extreme_of<T, kIsGreatest, 8>(rows, count, elements, result);
    default: return extreme_of<T, kIsGreatest, 0>(rows, count, elements, result);
  }
}

template <class T, bool kIsGreatest, int kWidth, int kStep>
void extreme_of_neighbors(const T* row, int64_t elements, T* result) {
  using L = Lanes<T>;
  using V = typename L::Vector;
  constexpr int kReach = kWidth / 2 * kStep;
  const auto join = [](V a, V b) __attribute__((always_inline)) { return kIsGreatest ? larger(a, b) : lesser(a, b); };
  V current = L::load(row), next = L::load(row + L::kSize);
  const V before = L::load(row - L::kSize);
  V pairs_before = join(before, shifted<L, kStep>(before, current));  // each with the neighbour behind it
  const auto make = [&]() __attribute__((always_inline)) {
    const V behind = shifted<L, kStep>(current, next), pairs = join(current, behind);
    const V first = shifted<L, L::kSize - kReach>(pairs_before, pairs);
    pairs_before = pairs;
    if constexpr (kWidth == 3) return join(first, behind);
    return join(join(first, pairs), shifted<L, kReach>(current, next));
  };
  int64_t x = 0;
  for (; x + L::kSize <= elements; x += L::kSize) {
    L::store(make(), result + x);
    current = next;
    next = L::load(row + x + 2 * L::kSize);
  }
  if (x == elements) return;
  const V last = make();
  __builtin_memcpy(result + x, &last, static_cast<size_t>(elements - x) * sizeof(T));
}
template <class T, bool kIsGreatest>
void extreme_neighbor(const T* row, int width, int64_t step, int64_t elements, T* result) {
  with_step(step, [&]<int kStep>() {
    if (width == 3) return extreme_of_neighbors<T, kIsGreatest, 3, kStep>(row, elements, result);
    if constexpr (2 * kStep <= Lanes<T>::kSize)
      return extreme_of_neighbors<T, kIsGreatest, 5, kStep>(row, elements, result);
    const T* const rows[] = {row - 2 * kStep, row - kStep, row, row + kStep, row + 2 * kStep};
    extreme_of<T, kIsGreatest, 5>(rows, 5, elements, result);
  });
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

/// Fills rows with what make(x, vectors) makes of each place.
template <int kRows, class T, class Make>
IRUKA_FILTER_INLINE void fill_rows(int64_t elements, T* const* results, Make&& make) {
  using L = Lanes<T>;
  T* to[kRows];
  for (int k = 0; k < kRows; ++k) to[k] = results[k];
  typename L::Vector v[kRows];
  int64_t x = 0;
  for (; x + L::kSize <= elements; x += L::kSize) {
    make(x, v);
    for (int k = 0; k < kRows; ++k) L::store(v[k], to[k] + x);
  }
  if (x == elements) return;
  make(x, v);
  for (int k = 0; k < kRows; ++k) __builtin_memcpy(to[k] + x, &v[k], static_cast<size_t>(elements - x) * sizeof(T));
}

/// Columns are sorted first; neighbours share them.
template <class T> void sort_columns(const T* const* rows, int size, int64_t elements, T* const* sorted) {
  using L = Lanes<T>;
  using V = typename L::Vector;
  if (size == 1) {
    __builtin_memcpy(sorted[0], rows[0], static_cast<size_t>(elements) * sizeof(T));
  } else if (size == 3) {
    const T *const first = rows[0], *const second = rows[1], *const third = rows[2];
    fill_rows<3>(elements, sorted, [=](int64_t x, V* v) __attribute__((always_inline)) {
      V a = L::load(first + x), b = L::load(second + x), c = L::load(third + x);
      exchange(a, b);
      exchange(b, c);
      exchange(a, b);
      v[0] = a, v[1] = b, v[2] = c;
    });
  } else {
    fill_rows<5>(elements, sorted, [=](int64_t x, V* v) __attribute__((always_inline)) {
      V a = L::load(rows[0] + x), b = L::load(rows[1] + x), c = L::load(rows[2] + x), d = L::load(rows[3] + x),
        e = L::load(rows[4] + x);
      exchange(a, b), exchange(d, e), exchange(c, e), exchange(c, d), exchange(a, d);
      exchange(a, c), exchange(b, e), exchange(b, d), exchange(b, c);
      v[0] = a, v[1] = b, v[2] = c, v[3] = d, v[4] = e;
    });
  }
}

/// Of sorted columns: the greatest of the least values, the median of the middle ones, the least of the greatest.
template <class V>
IRUKA_FILTER_INLINE V median_of_sorted(V low_a, V low_b, V low_c, V a, V b, V c, V high_a, V high_b, V high_c) {
  const auto middle = [](V x, V y, V z)
                          __attribute__((always_inline)) { return larger(lesser(x, y), lesser(larger(x, y), z)); };
  return middle(larger(larger(low_a, low_b), low_c), middle(a, b, c), lesser(lesser(high_a, high_b), high_c));
}

template <class T> void median_of_three(const T* const* sorted, int64_t step, int64_t elements, T* result) {
  using L = Lanes<T>;
  const T *const least = sorted[0], *const middles = sorted[1], *const greatest = sorted[2];
  fill_row<L>(elements, result, [=](int64_t x) __attribute__((always_inline)) {
    const auto at = [=](const T* row, int k) __attribute__((always_inline)) { return L::load(row + x + k * step); };
    return median_of_sorted(at(least, 0), at(least, 1), at(least, 2), at(middles, 0), at(middles, 1), at(middles, 2),
                            at(greatest, 0), at(greatest, 1), at(greatest, 2));
  });
}

template <class T>
void median_of_nine(const T* const* rows, const T* const* left, const T* const* right, int64_t step, int64_t elements,
                    T* result) {
  using L = Lanes<T>;
  using V = typename L::Vector;
  const auto sort = [](const T* const* from, int64_t x, V* v) __attribute__((always_inline)) {
    v[0] = L::load(from[0] + x), v[1] = L::load(from[1] + x), v[2] = L::load(from[2] + x);
    exchange(v[0], v[1]);
    exchange(v[1], v[2]);
    exchange(v[0], v[1]);
  };
  const T* const own[] = {rows[0], rows[1], rows[2]};  // which no store can change
  with_step(step, [&]<int kStep>() {
    fill_from_neighbors<L, 3, kStep>(
        own, left, right, elements, result, sort,
        [](const V* previous, const V* current, const V* next) __attribute__((always_inline)) {
          const auto before = [=](int k) __attribute__((always_inline)) {
            return shifted<L, L::kSize - kStep>(previous[k], current[k]);
          };
          const auto behind = [=](int k)
                                  __attribute__((always_inline)) { return shifted<L, kStep>(current[k], next[k]); };
          return median_of_sorted(before(0), current[0], behind(0), before(1), current[1], behind(1), before(2),
                                  current[2], behind(2));
        });
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

template <class T> void median_of_five(const T* const* sorted, int64_t step, int64_t elements, T* result) {
  using L = Lanes<T>;
  using V = typename L::Vector;
  fill_row<L>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    V v[25];
#pragma clang loop unroll(full)
    for (int k = 0; k < 25; ++k) v[k] = L::load(sorted[k / 5] + x + k % 5 * step);
#pragma clang loop unroll(full)
    for (int k = 0; k < kExchanges; ++k) exchange(v[kMedianNetwork[k][0]], v[kMedianNetwork[k][1]]);
    return v[kMedianPlace];
  });
}

template <class T>
void median_of_columns(const T* const* sorted, int size, int64_t step, int64_t elements, T* result) {
  if (size == 1) return extreme_of<T, false, 1>(sorted, 1, elements, result);
  if (size == 3) return median_of_three<T>(sorted, step, elements, result);
  median_of_five<T>(sorted, step, elements, result);
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

template <class T> void median(const T* const* rows, int size, int64_t step, int64_t elements, T* result) {
  if constexpr (sizeof(T) == 1) {
    if (size <= 15) return median_by_bits<T, uint8_t>(rows, size, step, elements, result);
    return median_by_bits<T, uint16_t>(rows, size, step, elements, result);
  } else if constexpr (sizeof(T) == 2) {
    return median_by_bits<T, uint16_t>(rows, size, step, elements, result);
  } else {
    return median_by_bits<T, int32_t>(rows, size, step, elements, result);
  }
}
