// Threads that allocate, compute, check and free on streams of their own: nothing may be lost or mixed up. Needs a GPU;
// IRUKA_SOAK sets the number of operations (20,000).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "iruka/cuda.h"
#include "iruka/iruka.h"

namespace {

using namespace iruka;

/// Arrays of one thread, each filled with a number of its own.
class Worker {
 public:
  Worker(Device& device, uint64_t seed)
      : device_(device),
        stream_(device, {.non_blocking = true}),
        scope_(stream_),
        random_(seed),
        wrong_(Array::empty({1}, Dtype::int64, device)) {
    wrong_.fill(0);
  }

  void step() {
    const auto choice = random_() % 8;
    if (arrays_.size() < 4 || (choice < 3 && arrays_.size() < 64)) return add();
    const size_t k = random_() % arrays_.size();
    if (choice < 5) return remove(k);
    if (choice < 7) return change(k);
    copy(k);
  }
  int64_t finish() {
    while (!arrays_.empty()) remove(0);
    return wrong_.item<int64_t>();
  }

 private:
  struct Filled {
    Array array;
    int32_t value;
  };

  int64_t length() {
    const int exponent = static_cast<int>(random_() % 22);
    return 1 + static_cast<int64_t>(random_() % (uint64_t{1} << exponent));
  }
  void add() {
    static const ElementwiseKernel fill("int32 value", "int32 x", "x = value + (int)i", "soak_fill");
    Array array = Array::empty({length()}, Dtype::int32, device_);
    const auto value = static_cast<int32_t>(random_() % 1000000);
    fill(value, array);
    arrays_.push_back({std::move(array), value});
  }
  void check(const Filled& filled) {
    static const ElementwiseKernel compare("int32 x, int32 value", "raw int64 wrong",
                                           "if (x != value + (int)i) atomicAdd(&wrong[0], 1)", "soak_compare");
    compare(filled.array, filled.value, wrong_);
  }
  void remove(size_t k) {
    check(arrays_[k]);
    std::swap(arrays_[k], arrays_.back());
    arrays_.pop_back();
  }
  void change(size_t k) {
    static const ElementwiseKernel shift("int32 x", "int32 y", "y = x + 3", "soak_shift");
    arrays_[k].array = shift(arrays_[k].array);
    arrays_[k].value += 3;
  }
  void copy(size_t k) {
    Filled copied{arrays_[k].array.copy(), arrays_[k].value};
    remove(k);
    arrays_.push_back(std::move(copied));
  }

  Device& device_;
  const Stream stream_;
  const StreamScope scope_;
  std::mt19937_64 random_;
  std::vector<Filled> arrays_;
  Array wrong_;
};

TEST(GpuSoak, NothingIsLostOnFourStreams) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::unavailable_reason();
  Device& device = iruka::device("cuda");
  const char* setting = std::getenv("IRUKA_SOAK");
  const int64_t operations = setting ? std::atoll(setting) : 20000;
  constexpr int kThreads = 4;
  const size_t used = cuda::memory_statistics(device).used_bytes;
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Worker worker(device, static_cast<uint64_t>(t) + 1);
      for (int64_t k = 0; k < operations / kThreads; ++k) worker.step();
      wrong += worker.finish();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cuda::memory_statistics(device).used_bytes, used);
  cuda::free_all_blocks(device);
  EXPECT_LE(cuda::memory_statistics(device).held_bytes, used + (size_t{8} << 20));
}

}  // namespace
