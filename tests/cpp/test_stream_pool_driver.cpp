// What a stream pool asks the driver while other threads need the pool: the driver's answer may take as long as they
// do.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <new>
#include <utility>
#include <vector>

#include "fake_stream_device.h"

namespace {

/// Called before the calling thread is given memory.
thread_local std::function<void()> before_new;

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) {
  if (auto interlude = std::exchange(before_new, nullptr)) {
    interlude();
    before_new = std::move(interlude);
  }
  if (void* const memory = std::malloc(std::max<size_t>(bytes, 1))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace iruka::testing {
namespace {

using cuda_backend::BlockSource;
using cuda_backend::StreamPool;

constexpr size_t kPage = size_t{2} << 20;
const StreamHandle A = reinterpret_cast<StreamHandle>(1), B = reinterpret_cast<StreamHandle>(2);

/// Each question to the driver comes with an `interlude`, which another thread has to get through first.
class SlowSource final : public BlockSource {
 public:
  SlowSource(FakeStreamDevice& device, std::function<void()>& interlude) : source_(device), interlude_(interlude) {}
  void* allocate(size_t bytes) noexcept override { return source_.allocate(bytes); }
  void release(void* memory, size_t bytes) noexcept override { source_.release(memory, bytes); }
  bool synchronize() override { return source_.synchronize(); }
  void* record(StreamHandle stream, int device) noexcept override { return source_.record(stream, device); }
  bool is_done(void* event) noexcept override { return play(), source_.is_done(event); }
  void release_event(void* event) noexcept override { play(), source_.release_event(event); }
  bool same_capture(StreamHandle origin, StreamHandle stream) noexcept override {
    return play(), source_.same_capture(origin, stream);
  }

 private:
  void play() noexcept {
    if (interlude_) std::exchange(interlude_, nullptr)();
  }

  FakeBlockSource source_;
  std::function<void()>& interlude_;
};

class StreamPoolDriver : public ::testing::Test {
 protected:
  /// The next question is answered when another thread has released `memory`, or after some seconds.
  void release_meanwhile(void* memory) {
    interlude_ = [this, memory] {
      other_ = std::async(std::launch::async, [this, memory] { pool_.release(memory); });
      was_released_ = other_.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    };
  }
  bool was_released() {
    if (other_.valid()) other_.get();
    return std::exchange(was_released_, false);
  }

  FakeStreamDevice device_;
  std::function<void()> interlude_;
  StreamPool pool_{"cuda:0", std::make_unique<SlowSource>(device_, interlude_)};
  std::future<void> other_;
  bool was_released_ = false;
};

TEST_F(StreamPoolDriver, BlocksAreReleasedWhileItIsAskedForUses) {
  void *used = pool_.allocate(kPage, A), *other = pool_.allocate(kPage, A);
  device_.work(B, used, kPage);
  pool_.record_use(used, B);
  pool_.release(used);
  release_meanwhile(other);
  void* again = pool_.allocate(kPage, A);
  EXPECT_TRUE(was_released());
  EXPECT_NE(again, used);  // which B uses yet
  device_.finish(B);
  pool_.release(again);
}

TEST_F(StreamPoolDriver, BlocksAreReleasedWhileAnEventIsGivenBack) {
  void *used = pool_.allocate(kPage, A), *other = pool_.allocate(kPage, A);
  pool_.record_use(used, B);
  release_meanwhile(other);
  pool_.record_use(used, B);  // replaces the first mark
  EXPECT_TRUE(was_released());
  pool_.release(used);
  EXPECT_EQ(device_.live_events(), 1u);
}

TEST_F(StreamPoolDriver, BlocksAreReleasedWhileItIsAskedForCaptures) {
  void* other = pool_.allocate(kPage, A);
  pool_.begin_capture(A, 1);
  release_meanwhile(other);
  void* block = pool_.allocate(kPage, B);
  EXPECT_TRUE(was_released());
  pool_.end_capture(A);
  pool_.release_graph(1);
  pool_.release(block);
}

TEST_F(StreamPoolDriver, BlocksAreReleasedWhileHostMemoryIsAskedFor) {
  for (int round = 0; round < 2; ++round) {  // in the first one it makes room for blocks
    std::vector<void*> used;
    for (int k = 0; k < 40; ++k) used.push_back(pool_.allocate(kPage, A));
    for (void* const each : used) pool_.record_use(each, B);
    for (void* const each : used) pool_.release(each);
    int times = 0, waits = 0;
    std::vector<std::future<PoolStatistics>> others;
    if (round == 1)
      before_new = [&] {
        ++times;
        auto other = std::async(std::launch::async, [this] { return pool_.statistics(); });
        waits += other.wait_for(std::chrono::seconds(3)) != std::future_status::ready;
        others.push_back(std::move(other));
      };
    pool_.release(pool_.allocate(kPage, A));
    pool_.free_all_blocks();
    before_new = nullptr;
    EXPECT_EQ(times > 0, round == 1);
    EXPECT_EQ(waits, 0);
  }
}

TEST_F(StreamPoolDriver, OneThreadSettlesWhileOthersAllocate) {
  void* used = pool_.allocate(kPage, A);
  pool_.record_use(used, B);
  pool_.release(used);
  void* theirs = nullptr;
  interlude_ = [&] {
    other_ = std::async(std::launch::async, [&] { theirs = pool_.allocate(kPage, B); });
    was_released_ = other_.wait_for(std::chrono::milliseconds(200)) == std::future_status::ready;
  };
  void* mine = pool_.allocate(kPage, A);
  was_released();
  EXPECT_EQ(mine, used);
  EXPECT_NE(theirs, used);
  pool_.release(mine), pool_.release(theirs);
}

}  // namespace
}  // namespace iruka::testing
