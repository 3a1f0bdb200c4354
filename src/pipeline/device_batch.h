// Makes the values of a batch on a GPU, all together, on a stream beside those of the threads that take batches.
#pragma once

#include <deque>
#include <exception>
#include <mutex>
#include <span>

#include "iruka/pipeline.h"
#include "iruka/stream.h"
#include "pipeline/value.h"

namespace iruka::pipeline {

/// Each value into the array of the same number, which has its shape and dtype, lies on the device and is C-contiguous,
/// in the order of the current stream. Encoded pictures are decoded together and arrays go through their stages
/// together; what differs in numbers alone is one launch. An error is its value's; only an interruption or a device
/// that fails ends the batch.
void make_on_device(Device& device, std::span<Making* const> values, std::span<const Array> outs,
                    std::span<std::exception_ptr> errors);

/// The stream of a thread that makes batches for others.
///
/// Memory that is allocated for a stream is reused in the order of that stream's work. A batch's memory belongs to this
/// stream and is read by the taker's. So the taker's stream goes on behind the batch, by an event, and the memory of
/// the batch is reused when the work is done that the taker's stream has at the release. A thread that makes batches
/// does not run ahead of the GPU without end: it waits until the takers' streams have come to one of the last batches.
class BatchStream {
 public:
  explicit BatchStream(Device& device) : device_(device), own_(device, {.non_blocking = true}) {}

  /// The stream is the calling thread's current one while the result lives. Raises Interrupted.
  StreamScope begin();
  /// A batch is there behind the result.
  Event made() const;
  /// Called by the thread that takes a batch. Raises DeviceError where its current stream is captured.
  void publish(const Batch& batch, const Event& made);

 private:
  /// Batches that were taken by streams which have not come so far. They are in memory beside those that are not taken.
  static constexpr size_t kMostAhead = 2;

  Device& device_;
  const Stream own_;
  std::mutex mutex_;
  std::deque<Event> taken_;  ///< where the takers' streams were when they took batches, oldest first
};

}  // namespace iruka::pipeline
