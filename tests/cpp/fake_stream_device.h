// A device of plain memory with streams whose work is finished by hand. It notices memory that is reused too early.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "backend/cuda/stream_pool.h"

namespace iruka::testing {

/// What outlives the pool's source. Thread-safe.
class FakeStreamDevice {
  template <class F>
  auto locked(F&& body) const {
    std::lock_guard guard(mutex_);
    return body();
  }

 public:
  size_t budget = SIZE_MAX;  ///< bytes it can give in all
  bool refuses_events = false, refuses_waits = false;
  std::function<void()> after_synchronize, before_record;
  StreamHandle capture_origin = nullptr;
  std::set<StreamHandle> joined;  ///< streams that take part in the capture of capture_origin

  size_t chunks() const {
    return locked([&] { return chunks_.size(); });
  }
  size_t live_bytes() const {
    return locked([&] { return live_bytes_; });
  }
  size_t allocations() const {
    return locked([&] { return allocations_; });
  }
  size_t synchronizations() const {
    return locked([&] { return synchronizations_; });
  }
  size_t live_events() const {
    return locked([&] { return events_.size(); });
  }

  /// Work for `stream` that touches [memory, memory + bytes).
  void work(StreamHandle stream, const void* memory, size_t bytes) {
    locked([&] { streams_[stream].pending.push_back({static_cast<const char*>(memory), bytes}); });
  }
  /// Finishes the oldest `count` pieces of work of the stream.
  void finish(StreamHandle stream, size_t count = SIZE_MAX) {
    locked([&] { finish_unlocked(streams_[stream], count); });
  }
  void destroy(StreamHandle stream) {
    locked([&] { destroyed_.insert(stream); });
  }
  /// Whether `stream` may write there now, in its order: no other stream has work left that touches it.
  bool may_use(StreamHandle stream, const void* memory, size_t bytes) const {
    return locked([&] { return !touched_by_other(&stream, memory, bytes); });
  }

  void* allocate(size_t bytes) {
    std::lock_guard guard(mutex_);
    EXPECT_EQ(bytes % (size_t{2} << 20), 0u);
    if (bytes > budget || live_bytes_ > budget - bytes || bytes > size_t{1} << 40) return nullptr;
    void* const memory = std::aligned_alloc(4096, bytes);
    chunks_[memory] = bytes;
    live_bytes_ += bytes;
    ++allocations_;
    return memory;
  }
  void release(void* memory, size_t bytes) {
    std::lock_guard guard(mutex_);
    const auto chunk = chunks_.find(memory);
    ASSERT_TRUE(chunk != chunks_.end()) << "not a chunk";
    EXPECT_EQ(chunk->second, bytes);
    EXPECT_FALSE(touched_by_other(nullptr, memory, bytes)) << "given back while work is left";
    chunks_.erase(chunk);
    live_bytes_ -= bytes;
    std::free(memory);
  }
  void synchronize() {
    if (refuses_waits) throw DeviceError("the device cannot be waited for");
    locked([&] {
      EXPECT_EQ(capture_origin, nullptr) << "a capture is broken by waiting";
      ++synchronizations_;
      for (auto& [handle, stream] : streams_) finish_unlocked(stream, SIZE_MAX);
    });
    if (after_synchronize) after_synchronize();
  }
  void* record(StreamHandle stream) {
    if (before_record) before_record();
    std::lock_guard guard(mutex_);
    EXPECT_EQ(capture_origin, nullptr) << "an event of a capture says nothing";
    EXPECT_FALSE(destroyed_.contains(stream)) << "a stream that does not exist is used";
    if (refuses_events) return nullptr;
    auto* event = new Event{stream, streams_[stream].finished + streams_[stream].pending.size()};
    events_.insert(event);
    return event;
  }
  bool is_done(void* event) {
    std::lock_guard guard(mutex_);
    EXPECT_EQ(capture_origin, nullptr) << "a capture is broken by asking";
    const auto* known = static_cast<Event*>(event);
    EXPECT_TRUE(events_.contains(static_cast<Event*>(event)));
    return streams_[known->stream].finished >= known->position;
  }
  void release_event(void* event) {
    std::lock_guard guard(mutex_);
    EXPECT_EQ(events_.erase(static_cast<Event*>(event)), 1u);
    delete static_cast<Event*>(event);
  }
  bool same_capture(StreamHandle origin, StreamHandle stream) {
    return locked([&] { return origin == capture_origin && joined.contains(stream); });
  }

 private:
  struct Work {
    const char* memory;
    size_t bytes;
  };
  struct Stream {
    std::deque<Work> pending;
    size_t finished = 0;
  };
  struct Event {
    StreamHandle stream;
    size_t position;
  };

  static void finish_unlocked(Stream& stream, size_t count) {
    for (; count != 0 && !stream.pending.empty(); --count, ++stream.finished) {
      // What the work reads and writes is still there.
      std::memset(const_cast<char*>(stream.pending.front().memory), 0x5a, std::min<size_t>(1, stream.pending[0].bytes));
      stream.pending.pop_front();
    }
  }
  bool touched_by_other(const StreamHandle* own, const void* memory, size_t bytes) const {
    const char* const first = static_cast<const char*>(memory);
    for (const auto& [handle, stream] : streams_)
      if (!own || handle != *own)
        for (const Work& work : stream.pending)
          if (work.memory < first + bytes && first < work.memory + work.bytes) return true;
    return false;
  }

  mutable std::mutex mutex_;
  std::map<void*, size_t> chunks_;
  std::map<StreamHandle, Stream> streams_;
  std::set<Event*> events_;
  std::set<StreamHandle> destroyed_;
  size_t live_bytes_ = 0, allocations_ = 0, synchronizations_ = 0;
};

class FakeBlockSource final : public cuda_backend::BlockSource {
 public:
  explicit FakeBlockSource(FakeStreamDevice& device) : device_(device) {}
  void* allocate(size_t bytes) noexcept override { return device_.allocate(bytes); }
  void release(void* memory, size_t bytes) noexcept override { device_.release(memory, bytes); }
  bool synchronize() override {
    device_.synchronize();
    return true;
  }
  void* record(StreamHandle stream, int) noexcept override { return device_.record(stream); }
  bool is_done(void* event) noexcept override { return device_.is_done(event); }
  void release_event(void* event) noexcept override { device_.release_event(event); }
  bool same_capture(StreamHandle origin, StreamHandle stream) noexcept override {
    return device_.same_capture(origin, stream);
  }

 private:
  FakeStreamDevice& device_;
};

/// A pool over a fake device; at the end everything must have come back.
template <class Pool>
class FakePool {
 public:
  ~FakePool() {
    pool.reset();
    EXPECT_EQ(device.chunks(), 0u);
    EXPECT_EQ(device.live_bytes(), 0u);
    EXPECT_EQ(device.live_events(), 0u);
  }
  Pool* operator->() { return pool.get(); }

  FakeStreamDevice device;
  std::unique_ptr<Pool> pool = std::make_unique<Pool>("cuda:0", std::make_unique<FakeBlockSource>(device));
};

/// What the tests of pools share.
namespace stream_pool {

inline constexpr size_t kKilo = 1 << 10, kMega = 1 << 20, kPage = 2 * kMega;

/// Streams are mere addresses to a pool.
inline StreamHandle stream(int index) {
  static std::array<char, 16> handles;
  return &handles.at(index);
}
inline const StreamHandle A = stream(0), B = stream(1), C = stream(2);

inline char* bytes_of(void* memory) { return static_cast<char*>(memory); }

/// Begins and ends a capture on the device and in the pool.
class Captured {
 public:
  Captured(FakePool<cuda_backend::StreamPool>& pool, StreamHandle origin, uint64_t graph)
      : pool_(pool), origin_(origin) {
    pool->begin_capture(origin, graph);
    pool.device.capture_origin = origin;
  }
  ~Captured() {
    pool_.device.capture_origin = nullptr;
    pool_.device.joined.clear();
    pool_->end_capture(origin_);
  }

 private:
  FakePool<cuda_backend::StreamPool>& pool_;
  StreamHandle origin_;
};

}  // namespace stream_pool
}  // namespace iruka::testing
