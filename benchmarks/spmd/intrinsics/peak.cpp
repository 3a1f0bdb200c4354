// What the processor can do at most: fused multiply-adds in registers.
#include <chrono>

#include "threads.h"
#include "vector.h"

namespace {

constexpr int kSums = 10;  // two pipes of four cycles each, and two to spare
constexpr int64_t kRounds = 4'000'000;

[[gnu::noinline]] void multiply_and_add() {
  Float sum[kSums];
  for (int k = 0; k < kSums; ++k) sum[k] = all(static_cast<float>(k));
  const Float factor = all(0.999f), addend = all(0.001f);
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 16
    for (int k = 0; k < kSums; ++k) sum[k] = fma(sum[k], factor, addend);
#pragma GCC unroll 16
    for (int k = 0; k < kSums; ++k) asm volatile("" : "+v"(sum[k]));  // all are needed
  }
}

}  // namespace

/// Floating-point operations a second, a fused multiply-add counted as two, on `threads` threads.
extern "C" double measure_peak(int64_t threads) {
  const auto start = std::chrono::steady_clock::now();
  in_parts(64 * threads, threads, [](int64_t, int64_t) { multiply_and_add(); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return static_cast<double>(threads * kRounds * kSums * kLanes * 2) / seconds;
}
