// What a call costs from C++: warm calls on 16 elements, with the output given and with an allocation.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "iruka/iruka.h"

namespace {

/// Median over repeats of the mean time of `calls` calls, in nanoseconds.
template <class Call>
double median_nanoseconds(Call&& call) {
  constexpr int kRepeats = 31, kCalls = 20'000;
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kCalls; ++k) call();
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                    kCalls);
  }
  std::ranges::sort(times);
  return times[kRepeats / 2];
}

}  // namespace

int main() {
  const iruka::Array x = iruka::Array::from<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  iruka::Array z = iruka::Array::empty({16}, iruka::Dtype::float32);
  const iruka::ElementwiseKernel add("float32 x, float32 y", "float32 z", "z = x + y;", "latency_add");
  const iruka::ElementwiseKernel scale("float32 x, int32 k", "float32 z", "z = x * k;", "latency_scale");
  std::printf("{\"call_given_ns\": %.1f, ", median_nanoseconds([&] { add(x, x, z); }));
  std::printf("\"call_allocating_ns\": %.1f, ", median_nanoseconds([&] { add(x, x); }));
  std::printf("\"call_with_integer_ns\": %.1f, ", median_nanoseconds([&] { scale(x, 3, z); }));
  std::printf("\"function_add_ns\": %.1f}\n", median_nanoseconds([&] { iruka::add(x, x); }));
}
