// Pixels of rows to columns of a result. Part of resample_lanes.h.

template <class T>
IRUKA_RESAMPLE_INLINE T lower_of(T a, T b) {
  constexpr int kCount = sizeof(T) / sizeof(a[0]);
  if constexpr (kCount == 2) return __builtin_shufflevector(a, b, 0, 2);
  if constexpr (kCount == 4) return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  if constexpr (kCount == 8) return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  if constexpr (kCount == 16)
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
template <class T>
IRUKA_RESAMPLE_INLINE T upper_of(T a, T b) {
  constexpr int kCount = sizeof(T) / sizeof(a[0]);
  if constexpr (kCount == 2) return __builtin_shufflevector(a, b, 1, 3);
  if constexpr (kCount == 4) return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  if constexpr (kCount == 8) return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  if constexpr (kCount == 16)
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/// Each round interleaves row i with row i + kSide / 2.
template <int kSide, class V>
IRUKA_RESAMPLE_INLINE void transpose(V (&rows)[kSide]) {
#pragma clang loop unroll(full)
  for (int round = 1; round < kSide; round *= 2) {
    V next[kSide];
#pragma clang loop unroll(full)
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = lower_of(rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = upper_of(rows[i], rows[i + kSide / 2]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
}

/// A square of pixels of kBytes bytes: (y, x) goes to (x, y).
template <int kBytes>
struct SquareTile {
  static constexpr int kSide = 16;
  static IRUKA_RESAMPLE_INLINE void turn(const char* from, int64_t line, char* to, int64_t column) {
    for (int x = 0; x < kSide; ++x)
      for (int y = 0; y < kSide; ++y)
        __builtin_memcpy(to + x * column + y * kBytes, from + y * line + x * kBytes, kBytes);
  }
};
/// Where pixels are numbers, a row of the square is a vector of 16 bytes.
template <class T>
struct NumberTile {
  static constexpr int kSide = 16 / sizeof(T);
  static IRUKA_RESAMPLE_INLINE void turn(const char* from, int64_t line, char* to, int64_t column) {
    typename Vectors<T, kSide>::Vector rows[kSide];
    for (int y = 0; y < kSide; ++y) __builtin_memcpy(&rows[y], from + y * line, 16);
    transpose(rows);
    for (int x = 0; x < kSide; ++x) __builtin_memcpy(to + x * column, &rows[x], 16);
  }
};
template <>
struct SquareTile<1> : NumberTile<uint8_t> {};
template <>
struct SquareTile<2> : NumberTile<uint16_t> {};
template <>
struct SquareTile<4> : NumberTile<uint32_t> {};
template <>
struct SquareTile<8> : NumberTile<uint64_t> {};
/// Pixels of 3 bytes are numbers of 4 bytes within registers.
template <>
struct SquareTile<3> {
  static constexpr int kSide = 4;
  static IRUKA_RESAMPLE_INLINE void turn(const char* from, int64_t line, char* to, int64_t column) {
    using Bytes = typename Vectors<uint8_t, 16>::Vector;
    typename Vectors<uint32_t, kSide>::Vector rows[kSide];
    for (int y = 0; y < kSide; ++y) {
      Bytes row{};
      __builtin_memcpy(&row, from + y * line, 12);
      rows[y] =
          (decltype(+rows[y]))__builtin_shufflevector(row, row, 0, 1, 2, 15, 3, 4, 5, 15, 6, 7, 8, 15, 9, 10, 11, 15);
    }
    transpose(rows);
    for (int x = 0; x < kSide; ++x) {
      const auto row = (Bytes)rows[x];
      const Bytes dense = __builtin_shufflevector(row, row, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
      __builtin_memcpy(to + x * column, &dense, 12);
    }
  }
};

/// Any pixels and places.
IRUKA_RESAMPLE_INLINE void turn_each(const TurnedRows& job, int64_t rows, int64_t pixels) {
  for (int64_t x = 0; x < pixels; ++x)
    for (int64_t y = 0; y < rows; ++y)
      __builtin_memcpy(job.to + x * job.column + y * job.row, job.from + y * job.line + x * job.bytes,
                       static_cast<size_t>(job.bytes));
}

/// Where the rows of a column are neighbours in the result. The last squares of a row or column overlap others.
template <int kBytes>
void turn_squares(const TurnedRows& job) {
  using Tile = SquareTile<kBytes>;
  constexpr int64_t kSide = Tile::kSide;
  constexpr int64_t kAhead = 256;  // bytes; the processor does not foresee reads of so many rows
  if (job.rows < kSide || job.pixels < kSide) return turn_each(job, job.rows, job.pixels);
  for (int64_t left = 0; left < job.pixels; left += kSide) {
    const int64_t x = left + kSide <= job.pixels ? left : job.pixels - kSide;
    for (int64_t top = 0; top < job.rows; top += kSide) {
      const int64_t y = top + kSide <= job.rows ? top : job.rows - kSide;
      for (int64_t i = 0; i < kSide; ++i) __builtin_prefetch(job.from + (y + i) * job.line + x * kBytes + kAhead);
      Tile::turn(job.from + y * job.line + x * kBytes, job.line, job.to + x * job.column + y * kBytes, job.column);
    }
  }
}

void turn(const TurnedRows& job) {
  switch (job.row == job.bytes ? job.bytes : 0) {
    case 1: return turn_squares<1>(job);
    case 2: return turn_squares<2>(job);
    case 3: return turn_squares<3>(job);
    case 4: return turn_squares<4>(job);
    case 6: return turn_squares<6>(job);
    case 8: return turn_squares<8>(job);
    case 12: return turn_squares<12>(job);
    case 16: return turn_squares<16>(job);
    default: return turn_each(job, job.rows, job.pixels);
  }
}
