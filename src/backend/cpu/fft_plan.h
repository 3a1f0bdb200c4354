// The plan for a length, which is stages with their powers of roots of unity, and a job of a few transforms.
#pragma once

#include <cstdint>

namespace iruka::cpu_backend {

/// Larger prime factors need Bluestein's algorithm.
inline constexpr int64_t kLargestRadix = 47;
inline constexpr int kMostStages = 40;

template <class T>
using FftVector __attribute__((vector_size(32))) = T;
/// The lanes for float; double has half as many.
inline constexpr int kMostLanes = 8;

template <class T>
struct FftStage {
  int64_t radix, count, stride;
  const T* twiddles;  ///< radix - 1 complex numbers for each of `count`
  const T* roots;     ///< `radix` roots of unity
};

/// A length without large prime factors.
template <class T>
struct FftPlan {
  int64_t length = 0;
  int stages = 0;
  FftStage<T> stage[kMostStages];
};

/// One side of a job. Numbers are in elements of T: from element to element, from lane to lane, and from a real to its
/// imaginary part (0: there is none).
template <class T>
struct FftSide {
  const T* data;
  int64_t step, lane, imaginary;
};

/// The types of a transform's input and output.
enum class FftForm : uint8_t { plain, to_half_spectrum, from_half_spectrum, mirrored };

/// A few transforms side by side.
template <class T>
struct FftLanes {
  FftForm form;
  bool inverse;
  int lanes;  ///< 1 to kMostLanes
  FftSide<T> in, out;
  int64_t kept;  ///< elements to store
  T scale;
  const T* real_roots;          ///< half spectra: length + 1 roots of unity of order 2 length
  const T *turns, *lane_turns;  ///< four-step: factors of each element, of the first lane and relative to it; or null
};

/// Calls a function of one lane for each.
template <class T>
void run_each(void (*run)(const FftPlan<T>&, const FftLanes<T>&, void*), const FftPlan<T>& plan, FftLanes<T> job,
              void* memory) {
  const int lanes = job.lanes;
  job.lanes = 1;
  for (int l = 0; l < lanes; ++l) {
    run(plan, job, memory);
    job.in.data += job.in.lane;
    job.out.data += job.out.lane;
    if (job.lane_turns) ++job.lane_turns;
  }
}

namespace baseline {
void run_fft(const FftPlan<float>& plan, const FftLanes<float>& job, void* memory);
void run_fft(const FftPlan<double>& plan, const FftLanes<double>& job, void* memory);
}  // namespace baseline
namespace avx2 {
void run_fft(const FftPlan<float>& plan, const FftLanes<float>& job, void* memory);
void run_fft(const FftPlan<double>& plan, const FftLanes<double>& job, void* memory);
}  // namespace avx2

}  // namespace iruka::cpu_backend
