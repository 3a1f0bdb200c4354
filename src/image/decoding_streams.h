// Streams of a GPU beside those of the callers. Pictures that only a chain sees are decoded on them, into memory that
// is theirs: the next pictures are decoded while a chain reads the ones before.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

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
  /// A stream is used again when chains have read the pictures of as many others, or nearly so.
  static constexpr size_t kKept = 3;

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

}  // namespace iruka::image
