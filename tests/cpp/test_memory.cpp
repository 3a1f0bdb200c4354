// Buffers and the memory pool: reuse, limits, threads, fork, foreign memory.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "core/pool.h"
#include "error_of.h"
#include "host_device.h"
#include "iruka/array.h"

namespace iruka {
namespace {

/// Malloc with a budget that records its allocations.
class CountingMemory final : public RawMemory {
 public:
  struct Counts {
    size_t live_bytes = 0, live_blocks = 0, allocations = 0, budget = SIZE_MAX;
  };
  explicit CountingMemory(Counts& counts) : counts_(counts) {}
  void* allocate(size_t bytes) noexcept override {
    if (bytes % 64 != 0 || counts_.live_bytes + bytes > counts_.budget) return nullptr;
    counts_.live_bytes += bytes;
    ++counts_.live_blocks;
    ++counts_.allocations;
    return std::aligned_alloc(64, bytes);
  }
  void release(void* memory, size_t bytes) noexcept override {
    counts_.live_bytes -= bytes;
    --counts_.live_blocks;
    std::free(memory);
  }

 private:
  Counts& counts_;
};

struct CountedPool {
  CountingMemory::Counts counts;
  MemoryPool pool{"counted", std::make_unique<CountingMemory>(counts)};
};

TEST(SizeClass, HoldsRequestsWithAtMostAnEighthWasted) {
  int last = -1;
  for (int index = 0; index < SizeClass::kCount; ++index) {
    const size_t bytes = SizeClass::bytes_of(index);
    EXPECT_EQ(SizeClass::of(bytes).index, index);
    EXPECT_EQ(SizeClass::of(bytes).bytes, bytes);
    EXPECT_EQ(bytes % 64, 0u);
    if (index + 1 < SizeClass::kCount) {
      const SizeClass next = SizeClass::of(bytes + 1);
      EXPECT_EQ(next.index, index + 1);
      EXPECT_LE(next.bytes - bytes, std::max<size_t>(next.bytes / 8, 64));
    }
    EXPECT_EQ(index, ++last);
  }
}

TEST(MemoryPool, BlocksAreAlignedAndTheirOwn) {
  MemoryPool pool;
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t bytes : {0, 1, 63, 64, 65, 511, 512, 513, 4000, 100000, 1 << 20, 5 << 20}) {
    char* memory = static_cast<char*>(pool.allocate(bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    std::memset(memory, static_cast<int>(blocks.size()), bytes);
    blocks.emplace_back(memory, bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [memory, bytes] = blocks[i];
    for (size_t k = 0; k < bytes; ++k) ASSERT_EQ(memory[k], static_cast<char>(i));
    pool.release(memory, bytes);
  }
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST(MemoryPool, ReusesBlocksOfTheSameClass) {
  CountedPool counted;
  MemoryPool& pool = counted.pool;
  void* a = pool.allocate(1000);
  pool.release(a, 1000);
  EXPECT_EQ(pool.allocate(1024), a);  // 1000 and 1024 share a class
  const PoolStatistics statistics = pool.statistics();
  EXPECT_EQ(statistics.allocations, 2u);
  EXPECT_EQ(statistics.reuses, 1u);
  EXPECT_EQ(statistics.used_bytes, 1024u);
  EXPECT_EQ(statistics.held_bytes, 0u);
  EXPECT_EQ(statistics.peak_bytes, 1024u);
  pool.release(a, 1024);
  EXPECT_EQ(pool.statistics().held_bytes, 1024u);
  pool.free_held();
  EXPECT_EQ(pool.statistics().held_bytes, 0u);
  EXPECT_EQ(counted.counts.live_blocks, 0u);
}

TEST(MemoryPool, LargeRequestsTakeSlightlyLargerBlocks) {
  CountedPool counted;
  MemoryPool& pool = counted.pool;
  const size_t mega = 1 << 20;
  void* a = pool.allocate(10 * mega);
  pool.release(a, 10 * mega);
  EXPECT_EQ(pool.allocate(9 * mega), a);  // the next class
  EXPECT_EQ(pool.statistics().used_bytes, 10 * mega);
  pool.release(a, 9 * mega);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
  EXPECT_EQ(pool.statistics().held_bytes, 10 * mega);
  void* b = pool.allocate(5 * mega);  // half of a: not wasted on it
  EXPECT_NE(b, a);
  EXPECT_EQ(pool.allocate(10 * mega), a);
  pool.release(a, 10 * mega);
  pool.release(b, 5 * mega);
}

TEST(MemoryPool, HeldMemoryDoesNotGrowWithEverySize) {
  CountedPool counted;
  MemoryPool& pool = counted.pool;
  const size_t mega = 1 << 20;
  for (size_t size = 100; size < 2000; size += 50) pool.release(pool.allocate(size * mega), size * mega);
  const PoolStatistics statistics = pool.statistics();
  EXPECT_LE(statistics.used_bytes + statistics.held_bytes, statistics.peak_bytes * 3 / 2);
  EXPECT_EQ(counted.counts.live_bytes, statistics.held_bytes);
}

TEST(MemoryPool, LimitIsKeptAndItsErrorNamesTheNumbers) {
  CountedPool counted;
  MemoryPool& pool = counted.pool;
  pool.set_limit(4096);
  void* a = pool.allocate(2048);
  void* b = pool.allocate(1024);
  pool.release(b, 1024);
  EXPECT_EQ(test::error_of<OutOfMemoryError>([&] { pool.allocate(3000); }),
            "out of memory on counted: requested 3000 bytes; used 2048, held 1024, limit 4096");
  void* c = pool.allocate(2048);  // makes room by giving held memory back
  EXPECT_EQ(pool.statistics().held_bytes, 0u);
  EXPECT_EQ(pool.statistics().limit_bytes, 4096u);
  EXPECT_EQ(counted.counts.live_bytes, 4096u);
  pool.set_limit(1024);
  pool.release(c, 2048);  // over the new limit: not held
  EXPECT_EQ(counted.counts.live_bytes, 2048u);
  pool.release(a, 2048);
  EXPECT_EQ(counted.counts.live_bytes, 0u);
  pool.set_limit(0);
  pool.release(pool.allocate(100000), 100000);
  pool.set_limit(64);
  EXPECT_EQ(counted.counts.live_bytes, 0u);
}

TEST(MemoryPool, SystemFailureFreesHeldMemoryAndThenRaises) {
  CountedPool counted;
  MemoryPool& pool = counted.pool;
  counted.counts.budget = 8192;
  void* a = pool.allocate(4096);
  pool.release(a, 4096);
  void* b = pool.allocate(8192);  // fits only after a went back
  EXPECT_EQ(counted.counts.live_blocks, 1u);
  EXPECT_EQ(test::error_of<OutOfMemoryError>([&] { pool.allocate(64); }),
            "out of memory on counted: requested 64 bytes; used 8192, held 0, limit none");
  EXPECT_EQ(pool.statistics().used_bytes, 8192u);
  EXPECT_EQ(pool.statistics().peak_bytes, 8192u);
  pool.release(b, 8192);
}

TEST(MemoryPool, ImpossibleRequests) {
  MemoryPool pool("host");
  EXPECT_NE(test::error_of<OutOfMemoryError>([&] { pool.allocate(SIZE_MAX); }).find("18446744073709551615 bytes"),
            std::string::npos);
  EXPECT_NE(test::error_of<OutOfMemoryError>([&] { pool.allocate(SizeClass::kLargestRequest); }).find("requested"),
            std::string::npos);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST(MemoryPool, ThreadsNeverShareABlock) {
  MemoryPool pool;
  auto hammer = [&pool](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<unsigned*, size_t>> mine;
    for (int step = 0; step < 20000; ++step) {
      if (mine.size() < 20 && random() % 2) {
        const size_t bytes = 4 + random() % (step % 100 == 0 ? 3 << 20 : 5000);
        unsigned* memory = static_cast<unsigned*>(pool.allocate(bytes));
        *memory = seed;
        mine.emplace_back(memory, bytes);
      } else if (!mine.empty()) {
        std::swap(mine[random() % mine.size()], mine.back());
        ASSERT_EQ(*mine.back().first, seed);
        pool.release(mine.back().first, mine.back().second);
        mine.pop_back();
      }
      if (step % 1000 == 0) pool.free_held();
    }
    for (const auto& [memory, bytes] : mine) pool.release(memory, bytes);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 8; ++seed) threads.emplace_back(hammer, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST(MemoryPool, AChildOfForkCanAllocateWhileThreadsDo) {
  MemoryPool pool;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) pool.release(pool.allocate(100), 100);
    });
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock held for ever ends the child by a signal
      for (int i = 0; i < 100; ++i) pool.release(pool.allocate(100), 100);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

#if defined(__SANITIZE_ADDRESS__)
TEST(MemoryPoolDeathTest, UseAfterReleaseIsFound) {
  MemoryPool pool;
  char* memory = static_cast<char*>(pool.allocate(100));
  EXPECT_DEATH(memory[100] = 1, "use-after-poison");
  pool.release(memory, 100);
  EXPECT_DEATH(memory[0] = 1, "use-after-poison");
}
#endif

TEST(Buffer, ComesFromItsDeviceAndGoesBack) {
  testing::HostDevice device;
  {
    const Buffer buffer(device, 1000);
    EXPECT_EQ(buffer.bytes(), 1000u);
    EXPECT_TRUE(buffer.writable());
    EXPECT_FALSE(buffer.foreign());
    EXPECT_EQ(&buffer.device(), &device);
    EXPECT_EQ(device.pool.statistics().used_bytes, 1024u);
  }
  EXPECT_EQ(device.pool.statistics().used_bytes, 0u);
}

TEST(Buffer, ForeignMemoryIsReleasedOnceByTheLastView) {
  testing::HostDevice device;
  alignas(64) int values[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    std::optional<Array> view;
    {
      auto buffer = std::make_shared<Buffer>(device, values, sizeof(values), false, [&released] { ++released; });
      const Array x(buffer, Dtype::int32, {2, 3}, {12, 4});
      view = x.at(1).at(Slice{{}, {}, -1});
    }
    EXPECT_EQ(released, 0);
    EXPECT_FALSE(view->writable());
    EXPECT_TRUE(view->buffer()->foreign());
    EXPECT_EQ(view->at(0).item<int64_t>(), 5);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(device.pool.statistics().allocations, 0u);
  {
    Buffer unowned(device, values, sizeof(values), true, {});
  }
}

}  // namespace
}  // namespace iruka
