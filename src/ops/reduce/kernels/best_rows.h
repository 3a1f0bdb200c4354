// The same for argmin: a column's best value, and its row.
typedef int VI __attribute__((ext_vector_type(W)));
static inline void best_rows(C* values, int* rows, const char* const* p, int count, int row, ptrdiff_t width,
                             ptrdiff_t stride) {
  ptrdiff_t j = 0;
  for (; j <= width - kReach; j += W) {
    VC best;
    VI at;
    __builtin_memcpy(&best, values + j, sizeof(best));
    __builtin_memcpy(&at, rows + j, sizeof(at));
    for (int k = 0; k < count; ++k) {
      const VC value = load_computing(p[k] + j * stride, stride);
      const auto takes = beats(value, best);
      best = takes ? value : best;
      at = __builtin_convertvector(takes, VI) ? (VI)(row + k) : at;
    }
    __builtin_memcpy(values + j, &best, sizeof(best));
    __builtin_memcpy(rows + j, &at, sizeof(at));
  }
  for (; j < width; ++j)
    for (int k = 0; k < count; ++k) {
      const C value = element(p[k], j, stride);
      if (beats(value, values[j])) values[j] = value, rows[j] = row + k;
    }
}
