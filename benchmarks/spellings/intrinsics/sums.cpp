// Nearest points, points in a circle, rows of a sparse matrix, best paths.
#include "lanes.h"

extern "C" void nearest(const float* x, const float* points, int64_t count, int64_t rows, int32_t* result,
                        int64_t threads) {
  constexpr int kVectors = 4, kStep = kVectors * kLanes;
  in_turns(rows, threads, kStep, [=](int64_t begin, int64_t end) {
    Float p[kVectors][3], distance[kVectors];
    Ints place[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < kLanes; ++k) p[v][j][k] = x[std::min<int64_t>(begin + v * kLanes + k, rows - 1) * 3 + j];
      distance[v] = all(1e30f), place[v] = ints(0);
    }
    for (int64_t k = 0; k < count; ++k) {
      const Float q0 = all(points[k * 3]), q1 = all(points[k * 3 + 1]), q2 = all(points[k * 3 + 2]);
      for (int v = 0; v < kVectors; ++v) {
        const Float d0 = p[v][0] - q0, d1 = p[v][1] - q1, d2 = p[v][2] - q2;
        const Float sum = fma(d2, d2, fma(d1, d1, d0 * d0));
        place[v] = sum < distance[v] ? ints(static_cast<int>(k)) : place[v];
        distance[v] = min(sum, distance[v]);
      }
    }
    for (int64_t k = begin; k < end; ++k) result[k] = place[(k - begin) / kLanes][(k - begin) % kLanes];
  });
}

extern "C" void monte_carlo(int64_t samples, int64_t count, int32_t* hits, int64_t threads) {
  constexpr int kVectors = 4, kStep = kVectors * kLanes;
  in_turns(count, threads, kStep * 64, [=](int64_t begin, int64_t end) {
    for (; begin < end; begin += kStep) {
      Words state[kVectors];
      Ints found[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        state[v] = (reinterpret_cast<Words>(counting_ints()) + static_cast<uint32_t>(begin + v * kLanes)) * 747796405u +
                   2891336453u;
        found[v] = ints(0);
      }
      const auto next = [](Words& from) {
        from = from * 1664525u + 1013904223u;
        return floats(reinterpret_cast<Ints>(from >> 8)) * all(1.0f / 16777216);
      };
      for (int64_t k = 0; k < samples; ++k)
        for (int v = 0; v < kVectors; ++v) {
          const Float x = next(state[v]), y = next(state[v]);
          found[v] -= fma(x, x, y * y) < all(1.0f);
        }
      for (int v = 0; v < kVectors; ++v)
        for (int k = 0; k < kLanes; ++k)
          if (begin + v * kLanes + k < end) hits[begin + v * kLanes + k] = found[v][k];
    }
  });
}

// Rows are short, and neighbours in a row lie apart: single loads are faster than gathers.
extern "C" void sparse(const int32_t* begins, const int32_t* columns, const float* values, const float* x, int64_t rows,
                       float* y, int64_t threads) {
  in_parts(rows, threads, [=](int64_t row, int64_t end) {
    for (; row < end; ++row) {
      float sum[4] = {};
      int64_t k = begins[row];
      const int64_t last = begins[row + 1];
      for (; k + 4 <= last; k += 4)
        for (int j = 0; j < 4; ++j) sum[j] = __builtin_fmaf(values[k + j], x[columns[k + j]], sum[j]);
      for (; k < last; ++k) sum[0] = __builtin_fmaf(values[k], x[columns[k]], sum[0]);
      y[row] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  });
}

namespace {

/// Four numbers of kLanes elements, `stride` apart, turned: to[s] holds number s of each element.
void load_states(const float* from, int64_t stride, Float to[4]) {
  Float row[4];
  for (int k = 0; k < 4; ++k) {
    const auto four = [&](int part) { return _mm_loadu_ps(from + (4 * part + k) * stride); };
#ifdef __AVX512F__
    row[k] = joined(_mm256_set_m128(four(1), four(0)), _mm256_set_m128(four(3), four(2)));
#else
    row[k] = _mm256_set_m128(four(1), four(0));
#endif
  }
#ifdef __AVX512F__
  const Float a = _mm512_unpacklo_ps(row[0], row[1]), b = _mm512_unpackhi_ps(row[0], row[1]);
  const Float c = _mm512_unpacklo_ps(row[2], row[3]), d = _mm512_unpackhi_ps(row[2], row[3]);
  to[0] = _mm512_shuffle_ps(a, c, 0x44), to[1] = _mm512_shuffle_ps(a, c, 0xee);
  to[2] = _mm512_shuffle_ps(b, d, 0x44), to[3] = _mm512_shuffle_ps(b, d, 0xee);
#else
  const Float a = _mm256_unpacklo_ps(row[0], row[1]), b = _mm256_unpackhi_ps(row[0], row[1]);
  const Float c = _mm256_unpacklo_ps(row[2], row[3]), d = _mm256_unpackhi_ps(row[2], row[3]);
  to[0] = _mm256_shuffle_ps(a, c, 0x44), to[1] = _mm256_shuffle_ps(a, c, 0xee);
  to[2] = _mm256_shuffle_ps(b, d, 0x44), to[3] = _mm256_shuffle_ps(b, d, 0xee);
#endif
}

Float best_of(const float* scores, int64_t stride, const float* moves) {
  Float now[4], next[4], here[4];
  load_states(scores, stride, now);
  for (int t = 1; t < 16; ++t) {
    load_states(scores + 4 * t, stride, here);
    for (int s = 0; s < 4; ++s) {
      const Float p = max(now[0] + all(moves[s]), now[1] + all(moves[4 + s]));
      const Float q = max(now[2] + all(moves[8 + s]), now[3] + all(moves[12 + s]));
      next[s] = max(p, q) + here[s];
    }
    std::copy_n(next, 4, now);
  }
  return max(max(now[0], now[1]), max(now[2], now[3]));
}

}  // namespace

extern "C" void viterbi(const float* scores, const float* moves, int64_t count, float* best, int64_t threads) {
  in_parts(count, threads, [=](int64_t i, int64_t end) {
    for (; i + kLanes <= end; i += kLanes) store(best + i, best_of(scores + 64 * i, 64, moves));
    if (i == end) return;
    float rest[64 * kLanes] = {}, found[kLanes];
    std::copy(scores + 64 * i, scores + 64 * end, rest);
    store(found, best_of(rest, 64, moves));
    std::copy_n(found, end - i, best + i);
  });
}
