// Stream pools over a fake device: shapes of blocks, streams, limits, captures, hooks.
#include <gtest/gtest.h>

#include <array>
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

TEST(PointerMap, AgreesWithAModel) {
  std::mt19937 random(3);
  PointerMap<int> map;
  std::map<const void*, int*> model;
  std::vector<int> values(512);
  EXPECT_EQ(map.find(nullptr), nullptr);
  EXPECT_EQ(map.erase(nullptr), nullptr);
  for (int step = 0; step < 200'000; ++step) {
    // Few distinct keys far apart, the null pointer among them: long runs, many of them across the table's end.
    const void* key = reinterpret_cast<const void*>(uintptr_t{random() % 700} << 9);
    const auto found = model.find(key);
    ASSERT_EQ(map.find(key), found == model.end() ? nullptr : found->second);
    if (found != model.end()) {
      ASSERT_EQ(map.erase(key), found->second);
      model.erase(found);
    } else {
      int* const value = &values[random() % values.size()];
      map.reserve_one();
      map.insert(key, value);
      model[key] = value;
    }
    ASSERT_EQ(map.size(), model.size());
  }
  size_t visited = 0;
  map.for_each([&](int*) { ++visited; });
  EXPECT_EQ(visited, model.size());
}

TEST(FreeBins, FindTheSmallestThatFits) {
  std::mt19937_64 random(5);
  for (const size_t unit : {size_t{512}, kPage}) {
    FreeBins bins(unit);
    std::vector<Block> blocks(300);
    std::vector<Block*> held;
    for (int step = 0; step < 20'000; ++step) {
      if (held.size() < blocks.size() && random() % 2) {
        Block* block = &blocks[held.size()];
        for (Block& candidate : blocks)
          if (std::ranges::find(held, &candidate) == held.end()) block = &candidate;
        // Some beyond the last bin, where sizes share a bin.
        block->bytes = (1 + random() % (random() % 4 ? 40 : 9000)) * unit;
        bins.add(block);
        held.push_back(block);
      } else if (!held.empty()) {
        const size_t which = random() % held.size();
        bins.remove(held[which]);
        held.erase(held.begin() + which);
      }
      ASSERT_EQ(bins.count(), held.size());
      const size_t wanted = (1 + random() % (random() % 2 ? 40 : 9000)) * unit;
      const size_t parity = random() % 2;
      const auto accepts = [&](const Block& block) { return block.bytes / unit % 2 == parity; };
      Block* expected = nullptr;
      for (Block* block : held)
        if (block->bytes >= wanted && accepts(*block) && (!expected || block->bytes < expected->bytes))
          expected = block;
      Block* const found = bins.best(wanted, accepts);
      ASSERT_EQ(found == nullptr, expected == nullptr);
      if (found) {
        ASSERT_EQ(found->bytes, expected->bytes);
        ASSERT_TRUE(accepts(*found));
      }
    }
  }
}

TEST(StreamPool, BlocksAreRoundedAlignedAndTheirOwn) {
  const std::pair<size_t, size_t> sizes[] = {
      {0, 512},       {1, 512},           {512, 512},     {513, 1024},
      {kMega, kMega}, {kMega + 1, kPage}, {kPage, kPage}, {kPage + 1, 2 * kPage}};
  FakePool<StreamPool> pool;
  std::vector<void*> blocks;
  size_t used = 0;
  for (const auto& [requested, bytes] : sizes) {
    EXPECT_EQ(StreamPool::block_bytes(requested), bytes);
    blocks.push_back(pool->allocate(requested, A));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % 512, 0u);
    std::memset(blocks.back(), static_cast<int>(blocks.size()), bytes);
    used += bytes;
    EXPECT_EQ(pool->statistics().used_bytes, used);
  }
  for (size_t k = 0; k < blocks.size(); ++k) {
    for (size_t i = 0; i < sizes[k].second; ++i) ASSERT_EQ(bytes_of(blocks[k])[i], static_cast<char>(k + 1));
    EXPECT_TRUE(pool->release(blocks[k]));
  }
  EXPECT_EQ(pool->statistics().used_bytes, 0u);
  EXPECT_EQ(pool->statistics().peak_bytes, used);
}

TEST(StreamPool, ManySmallBlocksAskTheSourceSeldom) {
  FakePool<StreamPool> pool;
  std::vector<void*> blocks;
  for (int k = 0; k < 8192; ++k) blocks.push_back(pool->allocate(100, A));
  EXPECT_EQ(pool.device.allocations(), 2u);  // 4096 blocks of 512 bytes each
  EXPECT_EQ(pool->statistics().reuses, 8190u);
  EXPECT_EQ(pool->statistics().allocations, 8192u);
  for (void* block : blocks) pool->release(block);
  EXPECT_EQ(pool->free_blocks(), 2u);  // merged into whole pages
  EXPECT_EQ(pool->statistics().held_bytes, 2 * kPage);
}

TEST(StreamPool, UnknownPointersAreRefused) {
  FakePool<StreamPool> pool;
  void* block = pool->allocate(1000, A);
  EXPECT_FALSE(pool->release(bytes_of(block) + 512));
  EXPECT_FALSE(pool->record_use(bytes_of(block) + 512, B));
  EXPECT_TRUE(pool->release(block));
  EXPECT_FALSE(pool->release(block));
  EXPECT_FALSE(pool->record_use(block, B));
  EXPECT_TRUE(pool->release(nullptr));
}

TEST(StreamPool, SplitsAndMergesNeighbours) {
  FakePool<StreamPool> pool;
  void* whole = pool->allocate(8 * kPage, A);
  pool->release(whole);
  std::array<char*, 4> parts;
  for (auto& part : parts) part = bytes_of(pool->allocate(2 * kPage, A));
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(parts[k], bytes_of(whole) + k * 2 * kPage);
  EXPECT_EQ(pool.device.allocations(), 1u);
  EXPECT_EQ(pool->free_blocks(), 0u);
  pool->release(parts[0]);
  pool->release(parts[2]);
  EXPECT_EQ(pool->free_blocks(), 2u);
  pool->release(parts[1]);  // joins both sides
  EXPECT_EQ(pool->free_blocks(), 1u);
  EXPECT_EQ(pool->allocate(6 * kPage, A), whole);
  pool->release(whole);
  pool->release(parts[3]);
  EXPECT_EQ(pool->free_blocks(), 1u);
  EXPECT_EQ(pool->allocate(8 * kPage, A), whole);
  pool->release(whole);
}

TEST(StreamPool, TakesTheBestFitAndLeavesLargeHoles) {
  FakePool<StreamPool> pool;
  std::vector<void*> holes, walls;
  for (const size_t pages : {5, 2, 9, 3}) holes.push_back(pool->allocate(pages * kPage, A));
  pool->release(holes[0]), pool->release(holes[1]), pool->release(holes[2]), pool->release(holes[3]);
  EXPECT_EQ(pool->allocate(3 * kPage, A), holes[3]);
  EXPECT_EQ(pool->allocate(4 * kPage, A), holes[0]);
  EXPECT_EQ(pool->allocate(kPage, A), bytes_of(holes[0]) + 4 * kPage);  // the rest of 5, not a part of 2
  EXPECT_EQ(pool->allocate(6 * kPage, A), holes[2]);
  for (void* memory : {holes[0], holes[2], holes[3], static_cast<void*>(bytes_of(holes[0]) + 4 * kPage)})
    EXPECT_TRUE(pool->release(memory));
}

TEST(StreamPool, SmallBlocksStayOutOfLargeChunks) {
  FakePool<StreamPool> pool;
  void* large = pool->allocate(100 * kMega, A);
  pool->release(large);
  void* small = pool->allocate(100, A);
  EXPECT_EQ(pool->allocate(100 * kMega, A), large);
  EXPECT_EQ(pool.device.allocations(), 2u);
  pool->release(small), pool->release(large);
}

TEST(StreamPool, FragmentsAreFilledWithoutTheSource) {
  FakePool<StreamPool> pool;
  std::vector<void*> blocks;
  for (int k = 0; k < 1024; ++k) blocks.push_back(pool->allocate(16 * kKilo, A));
  const size_t chunks = pool.device.allocations();
  for (size_t k = 0; k < blocks.size(); k += 2) pool->release(blocks[k]);
  EXPECT_EQ(pool->free_blocks(), 512u);
  for (size_t k = 0; k < blocks.size(); k += 2) blocks[k] = pool->allocate(16 * kKilo - 100, A);
  EXPECT_EQ(pool.device.allocations(), chunks);
  EXPECT_EQ(pool->free_blocks(), 0u);
  for (void* block : blocks) pool->release(block);
}

TEST(StreamPool, ReuseOnTheSameStreamNeverWaits) {
  FakePool<StreamPool> pool;
  for (const size_t bytes : {size_t{1000}, 10 * kMega}) {
    void* first = pool->allocate(bytes, A);
    pool.device.work(A, first, bytes);
    pool->release(first);
    EXPECT_EQ(pool->allocate(bytes, A), first);
    void* other = pool->allocate(bytes, B);
    EXPECT_NE(other, first);
    pool->release(first);
    void* other_again = pool->allocate(bytes, B);
    EXPECT_TRUE(pool.device.may_use(B, other_again, bytes));
    pool->release(other), pool->release(other_again);
  }
  EXPECT_EQ(pool.device.synchronizations(), 0u);
}

TEST(StreamPool, FreeAllBlocksWaitsAndKeepsWhatLives) {
  FakePool<StreamPool> pool;
  void* mine = pool->allocate(4 * kPage, A);
  void* yours = pool->allocate(4 * kPage, B);
  void* split = pool->allocate(6 * kPage, B);
  pool->release(split);
  split = pool->allocate(kPage, B);
  pool.device.work(A, mine, kPage);
  pool.device.work(B, yours, kPage);
  pool->release(mine), pool->release(yours);
  pool->free_all_blocks(A);
  EXPECT_EQ(pool.device.synchronizations(), 1u);
  EXPECT_EQ(pool.device.chunks(), 2u);
  EXPECT_EQ(pool->statistics().held_bytes, 9 * kPage);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 1u);  // the chunk of `split`
  EXPECT_EQ(pool->statistics().held_bytes, 5 * kPage);
  pool->release(split);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 0u);
  EXPECT_EQ(pool->statistics().held_bytes, 0u);
  EXPECT_EQ(pool->free_blocks(), 0u);
}

TEST(StreamPool, AnEmptySourceGetsFreeChunksBack) {
  FakePool<StreamPool> pool;
  pool.device.budget = 10 * kPage;
  void* a = pool->allocate(4 * kPage, A);
  void* b = pool->allocate(5 * kPage, B);
  pool.device.work(A, a, kPage);
  pool.device.work(B, b, kPage);
  pool->release(a), pool->release(b);
  void* c = pool->allocate(9 * kPage, C);
  EXPECT_EQ(pool.device.synchronizations(), 1u);
  EXPECT_EQ(pool.device.live_bytes(), 9 * kPage);
  EXPECT_EQ(pool->statistics().held_bytes, 0u);
  pool->release(c);
}

TEST(StreamPool, TakesBlocksOfOtherStreamsLast) {
  FakePool<StreamPool> pool;
  pool.device.budget = 8 * kPage;
  void* a = pool->allocate(8 * kPage, A);
  pool->release(a);
  void* kept = pool->allocate(2 * kPage, A);  // the chunk cannot go
  char* rest = bytes_of(pool->allocate(6 * kPage, A));
  pool.device.work(A, rest, 6 * kPage);
  pool->release(rest);
  void* stolen = pool->allocate(3 * kPage, B);
  EXPECT_EQ(stolen, rest);
  EXPECT_EQ(pool.device.synchronizations(), 1u);
  EXPECT_TRUE(pool.device.may_use(B, stolen, 3 * kPage));
  pool.device.work(B, stolen, 3 * kPage);
  pool->release(stolen);  // now B's: next to A's free half, but not merged with it
  EXPECT_EQ(pool->free_blocks(), 2u);
  EXPECT_EQ(pool->allocate(3 * kPage, A), rest + 3 * kPage);
  pool->release(rest + 3 * kPage);
  void* both = pool->allocate(6 * kPage, C);  // merged once the device was waited for
  EXPECT_EQ(both, rest);
  EXPECT_EQ(pool.device.synchronizations(), 2u);
  EXPECT_TRUE(pool.device.may_use(C, both, 6 * kPage));
  pool->release(both), pool->release(kept);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 0u);
}

TEST(StreamPool, SmallRequestsOpenALargeBlockWhenNothingElseIsLeft) {
  FakePool<StreamPool> pool;
  pool.device.budget = 4 * kPage;
  void* whole = pool->allocate(4 * kPage, A);
  pool->release(whole);
  char* kept = bytes_of(pool->allocate(kPage, A));
  std::vector<void*> small;
  for (int k = 0; k < 4096 + 100; ++k) small.push_back(pool->allocate(512, k % 2 ? A : B));
  EXPECT_EQ(small.front(), kept + kPage);
  EXPECT_EQ(pool.device.chunks(), 1u);
  for (void* block : small) pool->release(block);
  pool->release(kept);
  pool->free_all_blocks();  // pages became a part of their chunk again
  EXPECT_EQ(pool.device.chunks(), 0u);
  // On one stream that happens with the last release, without waiting.
  whole = pool->allocate(4 * kPage, A);
  pool->release(whole);
  EXPECT_EQ(kept = bytes_of(pool->allocate(kPage, A)), whole);
  void* one = pool->allocate(512, A);
  void* two = pool->allocate(512, A);
  EXPECT_EQ(pool->free_blocks(), 2u);
  pool->release(one), pool->release(two);
  EXPECT_EQ(pool->free_blocks(), 1u);
  EXPECT_EQ(pool->allocate(3 * kPage, A), kept + kPage);
  pool->release(kept), pool->release(kept + kPage);
}

TEST(StreamPool, TheLimitCountsWholeChunks) {
  FakePool<StreamPool> pool;
  pool->set_limit(4 * kPage);
  EXPECT_EQ(pool->statistics().limit_bytes, 4 * kPage);
  void* small = pool->allocate(1, A);
  void* large = pool->allocate(2 * kPage, A);
  EXPECT_EQ(error_of<OutOfMemoryError>([&] { pool->allocate(2 * kPage, B); }),
            "out of memory on cuda:0: requested 4194304 bytes; used 4194816, held 2096640, limit 8388608");
  pool->release(large);
  void* other = pool->allocate(3 * kPage, B);  // room by giving A's chunk back
  EXPECT_EQ(pool.device.live_bytes(), 4 * kPage);
  pool->release(small), pool->release(other);
  const size_t waits = pool.device.synchronizations();
  EXPECT_THROW(pool->allocate(4 * kPage + 1, A), OutOfMemoryError);  // hopeless: held memory stays
  EXPECT_EQ(pool.device.synchronizations(), waits);
  EXPECT_EQ(pool->statistics().held_bytes, 4 * kPage);
  pool->set_limit(0);
  void* more = pool->allocate(10 * kPage, A);
  pool->set_limit(kPage);  // what is there stays
  EXPECT_EQ(pool->statistics().used_bytes, 10 * kPage);
  pool->release(more);
}

TEST(StreamPool, OutOfMemoryNamesTheNumbers) {
  FakePool<StreamPool> pool;
  pool.device.budget = 3 * kPage;
  void* block = pool->allocate(2 * kPage, A);
  EXPECT_EQ(error_of<OutOfMemoryError>([&] { pool->allocate(3'000'000, A); }),
            "out of memory on cuda:0: requested 3000000 bytes; used 4194304, held 0, limit none");
  for (const size_t huge : {size_t{1} << 50, (size_t{1} << 62) - 1, size_t{1} << 62, (size_t{1} << 62) + 1, SIZE_MAX})
    EXPECT_EQ(
        error_of<OutOfMemoryError>([&] { pool->allocate(huge, A); }),
        "out of memory on cuda:0: requested " + std::to_string(huge) + " bytes; used 4194304, held 0, limit none");
  pool->release(block);
  pool->release(pool->allocate(3 * kPage, B));  // nothing is broken
}

TEST(StreamPool, UsesUntilTheReleaseHoldABlockBack) {
  FakePool<StreamPool> pool;
  void* block = pool->allocate(kPage, A);
  EXPECT_TRUE(pool->use_until_release(block, B));
  EXPECT_TRUE(pool->use_until_release(block, A));  // its own stream needs no mark
  EXPECT_FALSE(pool->use_until_release(bytes_of(block) + 512, B));
  EXPECT_TRUE(pool->record_use(block, B));  // what B has now is not all
  pool.device.work(B, block, kPage);
  pool->release(block);
  EXPECT_EQ(pool.device.live_events(), 2u);
  void* const other = pool->allocate(kPage, A);
  EXPECT_NE(other, block);
  pool.device.finish(B, 1);
  EXPECT_EQ(pool->allocate(kPage, A), block);
  EXPECT_EQ(pool.device.live_events(), 0u);
  pool->use_until_release(block, C);  // which is destroyed before
  pool->forget_stream(C);
  pool.device.destroy(C);
  pool->release(block);
  EXPECT_EQ(pool->allocate(kPage, A), block);
  EXPECT_EQ(pool.device.synchronizations(), 0u);
  pool->release(block), pool->release(other);
}

TEST(StreamPool, RecordedUsesHoldABlockBack) {
  FakePool<StreamPool> pool;
  void* block = pool->allocate(kPage, A);
  EXPECT_TRUE(pool->record_use(block, B));
  pool.device.work(B, block, kPage);
  EXPECT_TRUE(pool->record_use(block, B));  // replaces the mark before that work
  EXPECT_TRUE(pool->record_use(block, A));  // its own stream needs no mark
  EXPECT_EQ(pool.device.live_events(), 1u);
  pool->release(block);
  EXPECT_EQ(pool.device.live_events(), 1u);
  EXPECT_EQ(pool->statistics().used_bytes, 0u);
  EXPECT_EQ(pool->statistics().held_bytes, kPage);
  EXPECT_EQ(pool->free_blocks(), 0u);
  void* other = pool->allocate(kPage, A);
  EXPECT_NE(other, block);
  pool.device.work(B, other, kPage);  // later work does not matter
  pool.device.finish(B, 1);
  EXPECT_EQ(pool->allocate(kPage, A), block);
  EXPECT_EQ(pool.device.live_events(), 0u);
  EXPECT_EQ(pool.device.synchronizations(), 0u);
  pool->release(block);
  EXPECT_EQ(pool->allocate(kPage, A), block);  // the use is forgotten
  pool->release(block), pool->release(other);
}

TEST(StreamPool, AWaitingBlockDoesNotHoldBackOthersWhenMemoryIsNeeded) {
  FakePool<StreamPool> pool;
  void* slow = pool->allocate(kPage, A);
  void* quick = pool->allocate(kPage, A);
  pool.device.work(B, slow, kPage), pool.device.work(C, quick, kPage);
  pool->record_use(slow, B), pool->record_use(quick, C);
  pool->release(slow), pool->release(quick);
  pool.device.finish(C);
  EXPECT_EQ(pool->allocate(kPage, A), quick);
  pool.device.budget = 2 * kPage;
  void* waited = pool->allocate(kPage, A);  // the last resort is to wait
  EXPECT_EQ(pool.device.synchronizations(), 1u);
  EXPECT_TRUE(pool.device.may_use(A, waited, kPage));
  pool->release(waited), pool->release(quick);
}

TEST(StreamPool, ARefusedEventMeansWaitingForTheDevice) {
  FakePool<StreamPool> pool;
  pool.device.refuses_events = true;
  void* block = pool->allocate(kPage, A);
  pool.device.work(B, block, kPage);
  pool->record_use(block, B);
  pool->release(block);
  void* other = pool->allocate(kPage, A);
  EXPECT_NE(other, block);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 1u);
  pool->release(other);
}

TEST(StreamPool, BlocksOfAForgottenStreamAreForAll) {
  FakePool<StreamPool> pool;
  void* free = pool->allocate(kPage, A);
  void* living = pool->allocate(kPage, A);
  void* waiting = pool->allocate(kPage, A);
  pool->release(free);
  pool.device.work(B, waiting, kPage);
  pool->record_use(waiting, B);
  pool->release(waiting);
  pool->forget_stream(A);
  pool->forget_stream(A);
  EXPECT_EQ(pool->allocate(kPage, B), free);
  EXPECT_EQ(pool.device.synchronizations(), 0u);
  pool.device.work(C, living, kPage);
  pool->release(living);  // after its stream is gone: its users are unknown
  void* fresh = pool->allocate(kPage, A);
  EXPECT_NE(fresh, living);
  pool->release(fresh), pool->release(free);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 0u);
}

TEST(StreamPool, BlocksOfAStreamThatEndsWithWorkLeftWaitForTheDevice) {
  FakePool<StreamPool> pool;
  pool.device.budget = 2 * kPage;
  void* free = pool->allocate(kPage, A);
  void* living = pool->allocate(kPage, B);
  pool.device.work(A, free, kPage), pool.device.work(A, living, kPage);
  pool.device.refuses_events = true;
  pool->record_use(living, A);
  pool->release(free);
  pool->forget_stream(A, /*is_done=*/false);
  pool->release(living);
  for (void** taken : {&free, &living}) {
    void*& block = *taken;
    block = pool->allocate(kPage, C);
    EXPECT_TRUE(pool.device.may_use(C, block, kPage));
  }
  EXPECT_EQ(pool.device.synchronizations(), 1u);
  pool->release(free), pool->release(living);
}

TEST(StreamPool, AMergedBlockIsAsBusyAsItsBusiestPart) {
  FakePool<StreamPool> pool;
  pool->release(pool->allocate(2 * kPage, A));
  void* idle = pool->allocate(kPage, A);
  void* busy = pool->allocate(kPage, A);
  pool->release(idle);
  pool->forget_stream(A);
  ASSERT_EQ(pool->allocate(kPage, B), idle);
  pool.device.work(C, busy, kPage);
  pool->release(busy);
  pool->release(idle);
  pool->forget_stream(B);  // now both belong to no stream
  EXPECT_EQ(pool->free_blocks(), 1u);
  void* both = pool->allocate(2 * kPage, A);
  EXPECT_TRUE(pool.device.may_use(A, both, 2 * kPage));
  EXPECT_NE(both, idle);
  pool->release(both);
}

TEST(StreamPool, ManyStreamsLeaveNothingBehind) {
  FakePool<StreamPool> pool;
  std::vector<char> handles(2000);
  for (char& handle : handles) {
    pool->release(pool->allocate(100, &handle));
    pool->release(pool->allocate(5 * kMega, &handle));
    pool->forget_stream(&handle);
  }
  EXPECT_EQ(pool.device.allocations(), 2u);
}

TEST(StreamPool, MemoryOfAGraphIsItsOwnWhileItLives) {
  FakePool<StreamPool> pool;
  for (const size_t bytes : {size_t{4000}, 4 * kPage}) {
    void* outside = pool->allocate(bytes, A);
    pool->release(outside);
    void *temporary, *result, *joined;
    {
      Captured capture(pool, A, 7);
      temporary = pool->allocate(bytes, A);
      EXPECT_NE(temporary, outside);
      pool->release(temporary);
      EXPECT_EQ(pool->allocate(bytes, A), temporary);  // reuse within the graph
      result = pool->allocate(2 * bytes, A);
      pool->release(temporary);
      pool.device.joined = {B};
      joined = pool->allocate(bytes, B);
      pool->release(joined);
      void* apart = pool->allocate(bytes, C);  // a stream outside of the capture
      pool->release(apart);
    }
    EXPECT_EQ(pool->allocate(bytes, A), outside);
    void* fresh = pool->allocate(bytes, A);
    void* fresh_b = pool->allocate(bytes, B);
    for (void* memory : {fresh, fresh_b})
      for (void* taken : {temporary, result, joined}) EXPECT_NE(memory, taken);
    pool->free_all_blocks();  // must keep the graph's blocks
    {
      Captured again(pool, A, 7);
      EXPECT_EQ(pool->allocate(bytes, A), temporary);
      pool->release(temporary);
    }
    pool->release_graph(7);
    const size_t asked = pool.device.allocations();
    void* reused = pool->allocate(bytes, C);  // ordinary memory now
    EXPECT_EQ(pool.device.allocations(), asked);
    for (void* memory : {outside, fresh, fresh_b, reused, result}) EXPECT_TRUE(pool->release(memory));
    pool->free_all_blocks();
    EXPECT_EQ(pool.device.chunks(), 0u);
  }
}

TEST(StreamPool, GraphBlocksAreNotTakenWhenMemoryIsShort) {
  FakePool<StreamPool> pool;
  pool.device.budget = 4 * kPage;
  void* block;
  {
    Captured capture(pool, A, 1);
    block = pool->allocate(4 * kPage, A);
    pool->release(block);
  }
  EXPECT_THROW(pool->allocate(kPage, A), OutOfMemoryError);
  EXPECT_THROW(pool->allocate(1, B), OutOfMemoryError);
  EXPECT_EQ(pool.device.chunks(), 1u);
  pool->release_graph(1);
  EXPECT_EQ(pool->allocate(4 * kPage, B), block);
  pool->release(block);
}

TEST(StreamPool, NobodyWaitsOrAsksDuringACapture) {
  FakePool<StreamPool> pool;
  pool.device.budget = 2 * kPage;
  void* block = pool->allocate(kPage, A);
  pool.device.work(B, block, kPage);
  void* early = pool->allocate(kPage, A);
  pool->record_use(early, B);
  pool->release(early);
  {
    Captured capture(pool, A, 1);
    pool->record_use(block, B);  // its mark must wait for the end of the capture
    pool->release(block);
    EXPECT_THROW(pool->allocate(kPage, A), OutOfMemoryError);
    pool->free_all_blocks();
    EXPECT_EQ(pool.device.synchronizations(), 0u);
    EXPECT_EQ(pool.device.live_events(), 1u);
  }
  EXPECT_EQ(pool.device.live_events(), 2u);
  pool.device.finish(B);
  void* first = pool->allocate(kPage, A);
  void* second = pool->allocate(kPage, A);
  EXPECT_EQ(pool.device.synchronizations(), 0u);
  EXPECT_EQ(pool.device.live_events(), 0u);
  pool->release(first), pool->release(second);
}

TEST(StreamPool, StreamsDestroyedDuringACaptureGetNoMarkAfterwards) {
  for (const bool is_done : {true, false}) {
    FakePool<StreamPool> pool;
    void* waiting = pool->allocate(kPage, A);
    void* living = pool->allocate(kPage, A);
    {
      Captured capture(pool, C, 1);
      for (void* block : {waiting, living}) {
        pool.device.work(B, block, kPage);
        pool->record_use(block, B);
      }
      pool->release(waiting);
      if (is_done) pool.device.finish(B);
      pool.device.destroy(B);
      pool->forget_stream(B, is_done);
    }
    pool->release(living);
    void* fresh = pool->allocate(kPage, A);
    EXPECT_TRUE(pool.device.may_use(A, fresh, kPage));
    EXPECT_EQ(fresh == waiting || fresh == living, is_done);
    pool->free_all_blocks();  // waits for the device, and so for what a destroyed stream had left
    EXPECT_EQ(pool.device.chunks(), 1u);
    pool->release(fresh);
  }
}

TEST(StreamPool, AStreamIsForgottenAfterItsLastMark) {
  FakePool<StreamPool> pool;
  void* block = pool->allocate(kPage, A);
  {
    Captured capture(pool, C, 1);
    pool->record_use(block, B);
  }
  std::thread destroyer;
  pool.device.before_record = [&] {  // while another thread releases the block
    destroyer = std::thread([&] {
      pool->forget_stream(B);
      pool.device.destroy(B);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  pool->release(block);
  destroyer.join();
  EXPECT_EQ(pool->allocate(kPage, A), block);
  pool->release(block);
}

TEST(StreamPool, AnEqualHandleOfAnotherDeviceIsAnotherStream) {
  FakePool<StreamPool> pool;
  void* block = pool->allocate(kPage, A);
  pool->record_use(block, A, /*device=*/1);
  EXPECT_EQ(pool.device.live_events(), 1u);
  pool->record_use(block, A, /*device=*/0);
  EXPECT_EQ(pool.device.live_events(), 1u);
  pool->release(block);
}

TEST(StreamPool, CapturesAreChecked) {
  FakePool<StreamPool> pool;
  EXPECT_EQ(error_of<ValueError>([&] { pool->begin_capture(A, 0); }), "begin_capture: a graph's number must not be 0");
  pool->begin_capture(A, 5);
  EXPECT_EQ(error_of<ValueError>([&] { pool->begin_capture(A, 6); }),
            "begin_capture: the stream is being captured for graph 5");
  pool->begin_capture(B, 6);
  void* of_a = pool->allocate(1, A);
  void* of_b = pool->allocate(1, B);
  EXPECT_GE(std::abs(bytes_of(of_a) - bytes_of(of_b)), 512);
  pool->end_capture(A), pool->end_capture(B);
  pool->release_graph(5), pool->release_graph(6), pool->release_graph(0), pool->release_graph(99);
  pool->release(of_a), pool->release(of_b);
}

class RecordingHook : public PoolHook {
 public:
  RecordingHook(std::string name, const StreamPool& pool, std::vector<std::string>& calls)
      : name_(std::move(name)), pool_(pool), calls_(calls) {}
  void malloc_preprocess(const std::string& pool, size_t requested, size_t bytes) noexcept override {
    add("malloc_pre", pool, requested, bytes);
  }
  void malloc_postprocess(const std::string& pool, size_t requested, size_t bytes, void* memory) noexcept override {
    add(memory ? "malloc_post" : "malloc_failed", pool, requested, bytes);
  }
  void alloc_preprocess(const std::string& pool, size_t bytes) noexcept override { add("alloc_pre", pool, 0, bytes); }
  void alloc_postprocess(const std::string& pool, size_t bytes, void* memory) noexcept override {
    add(memory ? "alloc_post" : "alloc_failed", pool, 0, bytes);
  }
  void free_preprocess(const std::string& pool, void* memory, size_t bytes) noexcept override {
    add(memory ? "free_pre" : "?", pool, 0, bytes);
  }
  void free_postprocess(const std::string& pool, void* memory, size_t bytes) noexcept override {
    add(memory ? "free_post" : "?", pool, 0, bytes);
  }

 private:
  void add(const char* call, const std::string& pool, size_t requested, size_t bytes) {
    ASSERT_EQ(pool, "cuda:0");
    pool_.statistics();  // no lock is held
    calls_.push_back(name_ + call + " " + std::to_string(requested) + " " + std::to_string(bytes));
  }
  std::string name_;
  const StreamPool& pool_;
  std::vector<std::string>& calls_;
};

TEST(PoolHook, ListensToItsThread) {
  using Calls = std::vector<std::string>;
  FakePool<StreamPool> pool;
  Calls calls;
  const auto taken = [&] { return std::exchange(calls, {}); };
  RecordingHook hook("", *pool.pool, calls), second("2.", *pool.pool, calls);
  EXPECT_EQ(error_of<ValueError>([&] { hook.leave(); }), "PoolHook::leave: the hook is not active");
  hook.enter();
  EXPECT_EQ(error_of<ValueError>([&] { hook.enter(); }), "PoolHook::enter: the hook is already active");
  void* block = pool->allocate(1000, A);
  EXPECT_EQ(taken(),
            (Calls{"malloc_pre 1000 1024", "alloc_pre 0 2097152", "alloc_post 0 2097152", "malloc_post 1000 1024"}));
  pool->release(block);
  EXPECT_EQ(taken(), (Calls{"free_pre 0 1024", "free_post 0 1024"}));
  EXPECT_FALSE(pool->release(block));
  std::thread([&] { pool->release(pool->allocate(1000, A)); }).join();
  EXPECT_EQ(taken(), Calls{});
  second.enter();
  pool->release(pool->allocate(1, A));
  EXPECT_EQ(taken(), (Calls{"malloc_pre 1 512", "2.malloc_pre 1 512", "malloc_post 1 512", "2.malloc_post 1 512",
                            "free_pre 0 512", "2.free_pre 0 512", "free_post 0 512", "2.free_post 0 512"}));
  hook.leave();
  pool.device.budget = 0;
  EXPECT_THROW(pool->allocate(kPage, A), OutOfMemoryError);
  EXPECT_EQ(taken(), (Calls{"2.malloc_pre 2097152 2097152", "2.alloc_pre 0 2097152", "2.alloc_failed 0 2097152",
                            "2.malloc_failed 2097152 2097152"}));
  second.leave();
}

TEST(PinnedPool, ReusesAtOnceButForRecordedCopies) {
  FakePool<PinnedPool> pool;
  void* block = pool->allocate(10'000);
  pool->release(block);
  EXPECT_EQ(pool->allocate(10'000), block);
  pool.device.work(nullptr, block, 10'000);
  EXPECT_TRUE(pool->record_use(block, nullptr));     // the default stream counts as any other
  EXPECT_TRUE(pool->record_use(block, nullptr, 1));  // and that of another device as one more
  EXPECT_EQ(pool.device.live_events(), 2u);
  pool->release(block);
  void* other = pool->allocate(10'000);
  EXPECT_NE(other, block);
  pool.device.finish(nullptr);
  EXPECT_EQ(pool->allocate(10'000), block);
  pool->release(block), pool->release(other);
  EXPECT_EQ(pool->free_blocks(), 1u);
  pool->set_limit(kPage);
  EXPECT_THROW(pool->allocate(kPage + 1), OutOfMemoryError);
  pool->free_all_blocks();
  EXPECT_EQ(pool.device.chunks(), 0u);
  EXPECT_EQ(pool->statistics().held_bytes, 0u);
}

TEST(StreamPool, MemoryStaysWhereTheDeviceCannotBeWaitedFor) {
  FakePool<StreamPool> pool;
  pool.device.budget = 2 * kPage;
  void* block = pool->allocate(2 * kPage, A);
  pool.device.work(A, block, kPage);
  pool->release(block);
  pool.device.refuses_waits = true;
  EXPECT_EQ(error_of<DeviceError>([&] { pool->allocate(kPage, B); }), "the device cannot be waited for");
  EXPECT_EQ(error_of<DeviceError>([&] { pool->free_all_blocks(); }), "the device cannot be waited for");
  EXPECT_EQ(pool->statistics().held_bytes, 2 * kPage);
  EXPECT_EQ(pool.device.chunks(), 1u);
  EXPECT_EQ(pool->allocate(2 * kPage, A), block);  // its own stream need not wait
  pool->release(block);
  pool.device.refuses_waits = false;
  void* other = pool->allocate(kPage, B);
  EXPECT_TRUE(pool.device.may_use(B, other, kPage));
  pool->release(other);
}

TEST(StreamPool, BlocksReleasedWhileThePoolWaitsAreNotIdle) {
  FakePool<StreamPool> pool;
  pool.device.budget = 2 * kPage;
  void* block = pool->allocate(2 * kPage, A);
  pool.device.after_synchronize = [&] {
    pool.device.work(A, block, kPage);
    pool->release(block);  // also shows that the lock is not held
  };
  EXPECT_THROW(pool->allocate(kPage, B), OutOfMemoryError);
  pool.device.after_synchronize = nullptr;
  void* other = pool->allocate(kPage, B);
  EXPECT_EQ(pool.device.synchronizations(), 2u);
  EXPECT_TRUE(pool.device.may_use(B, other, kPage));
  pool->release(other);
}

}  // namespace
}  // namespace iruka::cuda_backend
