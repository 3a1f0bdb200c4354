// What the pool of a GPU costs on the CPU: allocate and release of blocks that are held, beside the CPU's pool.
#include "backend/cuda/stream_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using iruka::cuda_backend::StreamPool;

/// Address space that is never touched; work of streams is always done.
class Addresses final : public iruka::cuda_backend::BlockSource {
 public:
  void* allocate(size_t bytes) noexcept override {
    next_ += bytes;
    return reinterpret_cast<void*>(next_ - bytes);
  }
  void release(void*, size_t) noexcept override {}
  bool synchronize() noexcept override { return true; }
  void* record(iruka::StreamHandle, int) noexcept override { return this; }
  bool is_done(void*) noexcept override { return true; }
  void release_event(void*) noexcept override {}
  bool same_capture(iruka::StreamHandle, iruka::StreamHandle) noexcept override { return false; }

 private:
  uintptr_t next_ = uintptr_t{1} << 40;
};

/// Median over repeats of the mean time of a call, in nanoseconds. `call(k)` for k from 0 to the number of calls.
template <class Call>
double median_nanoseconds(Call&& call) {
  constexpr int kRepeats = 31, kCalls = 100'000;
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kCalls; ++k) call(k);
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                    kCalls);
  }
  std::ranges::sort(times);
  return times[kRepeats / 2];
}

/// Takes and releases random blocks of a set that lives: the usual state of a program.
template <class Allocate, class Release>
double mixed_nanoseconds(size_t live, size_t largest, Allocate&& allocate, Release&& release) {
  std::mt19937 random(1);
  std::vector<std::pair<void*, size_t>> blocks(live);
  for (auto& [memory, bytes] : blocks) memory = allocate(bytes = 1 + random() % largest);
  std::vector<std::pair<size_t, size_t>> steps(100'000);  // which block, its new size
  for (auto& [which, bytes] : steps) which = random() % live, bytes = 1 + random() % largest;
  const double result = median_nanoseconds([&](int k) {
    auto& [memory, bytes] = blocks[steps[k].first];
    release(memory, bytes);
    memory = allocate(bytes = steps[k].second);
  });
  for (auto& [memory, bytes] : blocks) release(memory, bytes);
  return result;
}

}  // namespace

int main() {
  StreamPool pool("cuda:0", std::make_unique<Addresses>());
  iruka::MemoryPool cpu;
  int streams[4];
  const auto allocate = [&](size_t bytes) { return pool.allocate(bytes, &streams[0]); };
  const auto release = [&](void* memory, size_t) { pool.release(memory); };
  const auto cpu_allocate = [&](size_t bytes) { return cpu.allocate(bytes); };
  const auto cpu_release = [&](void* memory, size_t bytes) { cpu.release(memory, bytes); };
  const auto same = [](auto& take, auto& give, size_t bytes) {
    return median_nanoseconds([&](int) { give(take(bytes), bytes); });
  };
  std::printf("{\"small_ns\": %.1f, ", same(allocate, release, 1000));
  std::printf("\"large_ns\": %.1f, ", same(allocate, release, 64 << 20));
  std::printf("\"four_streams_ns\": %.1f, ",
              median_nanoseconds([&](int k) { pool.release(pool.allocate(1000, &streams[k % 4])); }));
  std::printf("\"recorded_ns\": %.1f, ", median_nanoseconds([&](int) {
                void* memory = allocate(1000);
                pool.record_use(memory, &streams[1]);
                pool.release(memory);
              }));
  std::printf("\"mixed_small_ns\": %.1f, ", mixed_nanoseconds(1000, 16384, allocate, release));
  std::printf("\"mixed_of_million_ns\": %.1f, ", mixed_nanoseconds(1'000'000, 16384, allocate, release));
  std::printf("\"mixed_large_ns\": %.1f, ", mixed_nanoseconds(1000, 256 << 20, allocate, release));
  std::printf("\"cpu_pool_small_ns\": %.1f, ", same(cpu_allocate, cpu_release, 1000));
  std::printf("\"cpu_pool_mixed_small_ns\": %.1f}\n", mixed_nanoseconds(1000, 16384, cpu_allocate, cpu_release));
}
