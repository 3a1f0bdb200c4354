// Distances along rows, from those along columns. Part of filter_lanes.h.

/// What a column at a distance of `way` gives: the square of its distance for kMetric 0, else as in DistanceMetric.
template <int kMetric> IRUKA_FILTER_INLINE Integers::Vector by_column(Integers::Vector column, int32_t way) {
  if constexpr (kMetric == 0) return column + Integers::all(way * way);
  if constexpr (kMetric == 1) return column + Integers::all(way);
  return larger(column, Integers::all(way));
}

/// Searches on both sides of the pixels of a block, until no column that is farther can be nearer.
template <int kMetric> bool settle_columns(const int32_t* columns, int64_t elements, int32_t* least) {
  constexpr int kVectors = 8, kSteps = 4;
  for (int64_t first = 0; first < elements; first += kVectors * Integers::kSize) {
    Integers::Vector best[kVectors];
    Integers::Vector places{};
    for (int lane = 0; lane < Integers::kSize; ++lane) places[lane] = lane;
    // What lies behind the row is settled.
    for (int v = 0; v < kVectors; ++v) {
      const auto inside = static_cast<int32_t>(elements - first) - v * int32_t{Integers::kSize};
      best[v] =
          places < Integers::all(inside) ? Integers::load(columns + first + v * Integers::kSize) : Integers::all(0);
    }
    int way = 1;
    for (bool is_settled = false; !is_settled;) {
      Integers::Vector most = best[0];
      for (int v = 1; v < kVectors; ++v) most = larger(most, best[v]);
      is_settled = __builtin_reduce_max(most) <= (kMetric == 0 ? way * way : way);
      if (is_settled) break;
      if (way + kSteps > kDistanceReach) return false;
      for (int step = 0; step < kSteps; ++step, ++way) {
        for (int v = 0; v < kVectors; ++v) {
          const int32_t* const here = columns + first + v * Integers::kSize;
          const Integers::Vector before = by_column<kMetric>(Integers::load(here - way), way);
          const Integers::Vector behind = by_column<kMetric>(Integers::load(here + way), way);
          best[v] = lesser(best[v], lesser(before, behind));
        }
      }
    }
    for (int v = 0; v < kVectors; ++v) Integers::store(best[v], least + first + v * Integers::kSize);
  }
  return true;
}
bool settle(int metric, const int32_t* columns, int64_t elements, int32_t* least) {
  if (metric == 0) return settle_columns<0>(columns, elements, least);
  return metric == 1 ? settle_columns<1>(columns, elements, least) : settle_columns<2>(columns, elements, least);
}

/// Square roots of integers below 2^24.
void square_roots(const int32_t* squares, int64_t elements, float* result) {
  fill_row<Floats>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    return __builtin_elementwise_sqrt(__builtin_convertvector(Integers::load(squares + x), Floats::Vector));
  });
}
