// Streams of a GPU beside those of the callers. Pictures that only a chain sees are decoded on them, into memory that
// is theirs: the next pictures are decoded while a chain reads the ones before.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/fork.h"
#include "iruka/error.h"
#include "iruka/stream.h"
#include "ops/permanent_cache.h"

namespace iruka::image {

/// The streams of a device that no thread uses, oldest first.
class DecodingStreams {
 public:
  explicit DecodingStreams(Device& device) : device_(device) {}
  static DecodingStreams& of(Device& device) {
    static constinit ops::PermanentCache<Device*, std::unique_ptr<DecodingStreams>> made;
    return *made.get(&device, [&] { return std::make_unique<DecodingStreams>(device); });
  }
  Stream take() {
    {
      const std::lock_guard lock(mutex_);
      if (free_.size() >= kKept) {
        Stream taken = std::move(free_.front());
        free_.pop_front();
        return taken;
      }
    }
    return Stream(device_, {.non_blocking = true});
  }
  void give_back(Stream&& used) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(used));
  }

 private:
  /// Free streams from which on the oldest is used again, so that its chain has ended, or nearly so.
  static constexpr size_t kKept = 2;

  Device& device_;
  ForkSafeMutex mutex_;
  std::deque<Stream> free_;
};

/// One of these streams, for pictures that die before it does.
class DecodingStream {
 public:
  explicit DecodingStream(Device& device)
      : streams_(DecodingStreams::of(device)), caller_(Stream::current(device)), own_(streams_.take()) {}
  /// The next pictures take the memory behind the work that the caller's stream has now.
  ~DecodingStream() {
    try {
      own_.wait_for(caller_);
    } catch (const DeviceError&) {  // the device has failed, and the next call says so
    }
    streams_.give_back(std::move(own_));
  }
  DecodingStream(const DecodingStream&) = delete;
  DecodingStream& operator=(const DecodingStream&) = delete;

  const Stream& stream() const { return own_; }
  /// The caller's stream goes on behind what was decoded.
  void join() const { caller_.wait_for(own_); }

 private:
  DecodingStreams& streams_;
  const Stream caller_;
  Stream own_;
};

/// Threads that run tasks in order, each as soon as one of them is free. They end with the object, after all tasks.
class DecodingThreads {
 public:
  explicit DecodingThreads(size_t count) {
    threads_.reserve(count);
    for (size_t k = 0; k < count; ++k) threads_.emplace_back([this] { work(); });
  }
  ~DecodingThreads() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  DecodingThreads(const DecodingThreads&) = delete;
  DecodingThreads& operator=(const DecodingThreads&) = delete;

  void add(std::packaged_task<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_closed_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace iruka::image
