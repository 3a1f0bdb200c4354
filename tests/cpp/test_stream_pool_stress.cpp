// Stream pools under random programs, threads and fork, against models.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "error_of.h"
#include "fake_stream_device.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

using test::error_of;
using testing::FakePool;
using namespace testing::stream_pool;

/// Random programs that follow the rules, on a device whose work takes its time.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) { pool_.device.budget = 24 * kPage; }

  void run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      const unsigned kind = random_() % 1000;
      if (kind < 450)
        allocate(stream(random_() % 4), 0);
      else if (kind < 850)
        release();
      else if (kind < 970)
        pool_.device.finish(stream(random_() % 4), 1 + random_() % 8);
      else if (kind < 980)
        capture();
      else if (kind < 985)
        replay();
      else if (kind < 990)
        release_graph();
      else if (kind < 995)
        forget();
      else if (kind < 997)
        pool_->free_all_blocks();
      else
        pool_->free_all_blocks(stream(random_() % 4));
      check_statistics();
    }
    while (!live_.empty()) release();
    check_statistics();
    EXPECT_GT(refusals_, 0u);
    EXPECT_GT(pool_->statistics().reuses, pool_->statistics().allocations / 2);
    for (int k = 0; k < 4; ++k) pool_.device.finish(stream(k));
  }

 private:
  struct Live {
    char* memory;
    size_t bytes;
    StreamHandle owner;  // null: its stream is forgotten
  };
  struct Range {
    char* memory;
    size_t bytes;
  };

  size_t random_size() {
    const unsigned kind = random_() % 10;
    return kind < 6 ? random_() % 20'000 : kind < 8 ? random_() % kMega : random_() % (4 * kPage);
  }

  bool is_free(const char* memory, size_t bytes) const {
    const auto next = live_.lower_bound(const_cast<char*>(memory));
    if (next != live_.end() && next->first < memory + bytes) return false;
    return next == live_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= memory;
  }

  void allocate(StreamHandle owner, uint64_t graph) {
    const size_t requested = random_size(), bytes = StreamPool::block_bytes(requested);
    ++allocations_;
    char* memory;
    try {
      memory = bytes_of(pool_->allocate(requested, owner));
    } catch (const OutOfMemoryError&) {
      ++refusals_;
      return;
    }
    ASSERT_TRUE(pool_.device.may_use(owner, memory, bytes)) << "reused too early";
    for (const auto& [other, ranges] : graphs_)
      for (const Range& range : ranges)
        ASSERT_TRUE(other == graph || memory + bytes <= range.memory || range.memory + range.bytes <= memory);
    ASSERT_TRUE(is_free(memory, bytes));
    live_[memory] = {memory, bytes, owner};
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    if (graph)
      graphs_[graph].push_back({memory, bytes});
    else if (random_() % 4)
      pool_.device.work(owner, memory, bytes);
  }

  void release() {
    if (live_.empty()) return;
    auto chosen = live_.lower_bound(std::next(live_.begin(), random_() % std::min<size_t>(live_.size(), 20))->first);
    const Live block = chosen->second;
    live_.erase(chosen);
    if (capturing_ == false && random_() % 4 == 0) {
      const StreamHandle user = stream(random_() % 4);
      pool_.device.work(user, block.memory, block.bytes);
      // What has lost its stream may be used by any other without a word.
      if (user != block.owner && (block.owner || random_() % 2)) pool_->record_use(block.memory, user);
    }
    used_ -= block.bytes;
    ASSERT_TRUE(pool_->release(block.memory));
  }

  void capture() {
    const uint64_t graph = 1 + random_() % 3;
    const StreamHandle origin = stream(random_() % 4);
    // The graph's other runs are over, so that its memory may be reused within it.
    for (int k = 0; k < 4; ++k) pool_.device.finish(stream(k));
    Captured captured(pool_, origin, graph);
    capturing_ = true;
    graphs_[graph];
    for (int k = random_() % 10; k > 0; --k) random_() % 2 ? allocate(origin, graph) : release();
    capturing_ = false;
  }

  void replay() {
    if (graphs_.empty()) return;
    const auto& [graph, ranges] = *graphs_.begin();
    // Uses of the graph's live blocks are recorded only at their release; replays write the others.
    for (const Range& range : ranges) {
      if (is_free(range.memory, range.bytes)) pool_.device.work(stream(random_() % 4), range.memory, range.bytes);
    }
  }

  void release_graph() {
    if (graphs_.empty()) return;
    for (int k = 0; k < 4; ++k) pool_.device.finish(stream(k));
    const uint64_t graph = graphs_.begin()->first;
    for (const Range& range : graphs_.begin()->second)
      if (const auto found = live_.find(range.memory); found != live_.end()) found->second.owner = nullptr;
    pool_->release_graph(graph);
    graphs_.erase(graph);
  }

  void forget() {
    const StreamHandle gone = stream(random_() % 4);
    pool_.device.finish(gone);
    pool_->forget_stream(gone);
    for (auto& [memory, block] : live_)
      if (block.owner == gone) block.owner = nullptr;
  }

  void check_statistics() {
    const PoolStatistics statistics = pool_->statistics();
    ASSERT_EQ(statistics.used_bytes, used_);
    ASSERT_EQ(statistics.used_bytes + statistics.held_bytes, pool_.device.live_bytes());
    ASSERT_EQ(statistics.allocations, allocations_);
    ASSERT_EQ(statistics.peak_bytes, peak_);
    ASSERT_EQ(capturing_, false);
  }

  std::mt19937 random_;
  FakePool<StreamPool> pool_;
  std::map<char*, Live> live_;
  std::map<uint64_t, std::vector<Range>> graphs_;
  size_t used_ = 0, peak_ = 0, allocations_ = 0, refusals_ = 0;
  bool capturing_ = false;
};

TEST(StreamPool, RandomProgramsNeverMeetUnfinishedWork) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram(seed).run(20'000);
    if (HasFailure()) return;
  }
}

/// The live ranges, as recorded by the threads.
class LiveRanges {
 public:
  bool add(char* memory, size_t bytes) {
    std::lock_guard guard(mutex_);
    const auto next = ends_.lower_bound(memory);
    if (next != ends_.end() && next->first < memory + bytes) return false;
    if (next != ends_.begin() && std::prev(next)->second > memory) return false;
    ends_.emplace_hint(next, memory, memory + bytes);
    return true;
  }
  void remove(char* memory) {
    std::lock_guard guard(mutex_);
    ends_.erase(memory);
  }

 private:
  std::mutex mutex_;
  std::map<char*, char*> ends_;
};

/// The head of a block in the test of threads; its last word holds `mark` too.
struct Tag {
  size_t bytes;
  uint64_t mark;
};

TEST(StreamPool, FourThreadsOnFourStreamsLoseNothing) {
  constexpr int kThreads = 4, kSteps = 250'000;
  FakePool<StreamPool> pool;
  pool.device.budget = 48 * kMega;
  LiveRanges ranges;
  std::array<std::atomic<char*>, 200> slots{};
  std::atomic<size_t> allocations{0}, refusals{0}, errors{0};

  const auto release = [&](char* memory) {
    Tag tag;
    std::memcpy(&tag, memory, sizeof(tag));
    uint64_t last;
    std::memcpy(&last, memory + tag.bytes - sizeof(last), sizeof(last));
    if (last != tag.mark) ++errors;
    ranges.remove(memory);
    if (!pool->release(memory)) ++errors;
  };
  const auto run = [&](int thread) {
    std::mt19937_64 random(thread);
    for (int step = 0; step < kSteps; ++step) {
      std::atomic<char*>& slot = slots[random() % slots.size()];
      if (char* memory = slot.exchange(nullptr)) {  // perhaps of another thread
        if (random() % 16 == 0) pool->record_use(memory, stream(random() % 4));
        release(memory);
        continue;
      }
      const size_t requested = random() % 64 ? random() % 50'000 : random() % (4 * kMega);
      ++allocations;
      try {
        char* memory = bytes_of(pool->allocate(requested, stream(random() % 4)));
        const Tag tag{StreamPool::block_bytes(requested), random()};
        if (!ranges.add(memory, tag.bytes)) ++errors;
        std::memcpy(memory, &tag, sizeof(tag));
        std::memcpy(memory + tag.bytes - sizeof(tag.mark), &tag.mark, sizeof(tag.mark));
        if (char* displaced = slot.exchange(memory)) release(displaced);
      } catch (const OutOfMemoryError&) {
        ++refusals;
      }
      if (random() % 20'000 == 0) pool->free_all_blocks();
    }
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) threads.emplace_back(run, k);
  for (std::thread& thread : threads) thread.join();

  size_t used = 0;
  for (const auto& slot : slots)
    if (const char* memory = slot.load()) used += reinterpret_cast<const Tag*>(memory)->bytes;
  EXPECT_EQ(pool->statistics().used_bytes, used);
  for (auto& slot : slots)
    if (char* memory = slot.exchange(nullptr)) release(memory);
  const PoolStatistics statistics = pool->statistics();
  EXPECT_EQ(errors, 0u);
  EXPECT_EQ(statistics.used_bytes, 0u);
  EXPECT_EQ(statistics.held_bytes, pool.device.live_bytes());
  EXPECT_EQ(statistics.allocations, allocations);
  EXPECT_LE(statistics.peak_bytes, pool.device.budget);
  EXPECT_GT(pool.device.synchronizations(), 0u);
  EXPECT_LT(refusals, allocations / 2);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 0u);
  EXPECT_EQ(pool->statistics().held_bytes, 0u);
}

TEST(StreamPool, AChildOfForkMayReleaseAndIsToldThatItMayNotAllocate) {
  FakePool<StreamPool> pool;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int k = 0; k < 2; ++k)
    threads.emplace_back([&, k] {
      while (!stop) {
        pool->release(pool->allocate(1000, stream(k)));
        if (k == 1) pool->free_all_blocks();
      }
    });
  for (int round = 0; round < 30; ++round) {
    void* plain = pool->allocate(1000, A);
    void* recorded = pool->allocate(1000, A);
    pool->record_use(recorded, B);
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      const auto told = [&](auto call) {
        return error_of<DeviceError>(call).ends_with(
            "memory of cuda:0 cannot be had in a child of fork(); start the process with the method 'spawn'");
      };
      bool ok = pool->release(plain) && pool->release(recorded) && told([&] { pool->allocate(1000, A); }) &&
                told([&] { pool->allocate(10 * kMega, A); }) && told([&] { pool->free_all_blocks(); }) &&
                told([&] { pool->begin_capture(A, 1); });
      pool.pool.reset();
      _exit(ok ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    pool->release(plain), pool->release(recorded);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace iruka::cuda_backend
