// What a careful programmer writes by hand: threads, vector instructions, streaming stores. The benchmarks hold Iruka
// to these loops. Built for the machine at hand.
#include <immintrin.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kAlign = 256;  // elements; parts begin at aligned addresses

template <class Part>
void in_parts(int64_t n, int threads, Part&& part) {
  const int64_t step = (n / threads + kAlign - 1) / kAlign * kAlign;
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&, t] { part(t, std::min(n, t * step), t + 1 == threads ? n : std::min(n, (t + 1) * step)); });
  part(0, 0, threads == 1 ? n : std::min(n, step));
  for (std::thread& other : others) other.join();
}

/// z = x + y where `vector` adds one 32-byte vector at element k and `single` one element.
template <int kPerVector, class Vector, class Single>
void streamed(int64_t n, int threads, Vector&& vector, Single&& single) {
  in_parts(n, threads, [&](int, int64_t begin, int64_t end) {
    int64_t k = begin;
    for (; k + kPerVector <= end; k += kPerVector) vector(k);
    for (; k < end; ++k) single(k);
    _mm_sfence();
  });
}

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
void store(void* to, __m256i value) { _mm256_stream_si256(static_cast<__m256i*>(to), value); }

}  // namespace

extern "C" {

void baseline_add_float32(const float* x, const float* y, float* z, int64_t n, int threads) {
  streamed<8>(
      n, threads,
      [=](int64_t k) { _mm256_stream_ps(z + k, _mm256_add_ps(_mm256_loadu_ps(x + k), _mm256_loadu_ps(y + k))); },
      [=](int64_t k) { z[k] = x[k] + y[k]; });
}

void baseline_add_int8(const int8_t* x, const int8_t* y, int8_t* z, int64_t n, int threads) {
  streamed<32>(
      n, threads, [=](int64_t k) { store(z + k, _mm256_add_epi8(load(x + k), load(y + k))); },
      [=](int64_t k) { z[k] = static_cast<int8_t>(x[k] + y[k]); });
}

void baseline_add_uint8(const int8_t* x, const int8_t* y, int8_t* z, int64_t n, int threads) {
  baseline_add_int8(x, y, z, n, threads);
}

void baseline_add_int16(const int16_t* x, const int16_t* y, int16_t* z, int64_t n, int threads) {
  streamed<16>(
      n, threads, [=](int64_t k) { store(z + k, _mm256_add_epi16(load(x + k), load(y + k))); },
      [=](int64_t k) { z[k] = static_cast<int16_t>(x[k] + y[k]); });
}

void baseline_add_float16(const uint16_t* x, const uint16_t* y, uint16_t* z, int64_t n, int threads) {
  const auto widen = [](const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  };
  streamed<8>(
      n, threads,
      [=](int64_t k) {
        const __m256 sum = _mm256_add_ps(widen(x + k), widen(y + k));
        _mm_stream_si128(reinterpret_cast<__m128i*>(z + k), _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
      },
      [=](int64_t k) { z[k] = _cvtss_sh(_cvtsh_ss(x[k]) + _cvtsh_ss(y[k]), _MM_FROUND_TO_NEAREST_INT); });
}

float baseline_sum_float32(const float* x, int64_t n, int threads) {
  std::vector<double> partial(static_cast<size_t>(threads) * 16);
  in_parts(n, threads, [&](int t, int64_t begin, int64_t end) {
    double total = 0;
    for (int64_t block = begin; block < end; block += 4096) {  // blocks bound the rounding error
      const int64_t stop = std::min(end, block + 4096);
      __m256 sums[8] = {};
      int64_t k = block;
      for (; k + 64 <= stop; k += 64)
        for (int lane = 0; lane < 8; ++lane) sums[lane] = _mm256_add_ps(sums[lane], _mm256_loadu_ps(x + k + 8 * lane));
      alignas(32) float lanes[8];
      for (int lane = 1; lane < 8; ++lane) sums[0] = _mm256_add_ps(sums[0], sums[lane]);
      _mm256_store_ps(lanes, sums[0]);
      for (float lane : lanes) total += lane;
      for (; k < stop; ++k) total += x[k];
    }
    partial[static_cast<size_t>(t) * 16] = total;
  });
  double total = 0;
  for (int t = 0; t < threads; ++t) total += partial[static_cast<size_t>(t) * 16];
  return static_cast<float>(total);
}

/// Streamed copy: the bandwidth that memory-bound work is held to.
void baseline_copy(const char* from, char* to, int64_t bytes, int threads) {
  streamed<32>(bytes, threads, [=](int64_t k) { store(to + k, load(from + k)); }, [=](int64_t k) { to[k] = from[k]; });
}

}  // extern "C"
