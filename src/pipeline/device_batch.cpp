#include "pipeline/device_batch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/device.h"
#include "core/thread_pool.h"
#include "image/file_batch.h"
#include "iruka/cuda.h"
#include "iruka/error.h"

namespace iruka::pipeline {
namespace {

/// Calls `body`; what it raises belongs to all of `errors` that have none.
template <class Body>
void keep_errors(std::span<std::exception_ptr* const> errors, Body body) {
  try {
    body();
    return;
  } catch (const Interrupted&) {
    throw;
  } catch (const OutOfMemoryError&) {
  } catch (const DeviceError&) {
    throw;
  } catch (...) {
  }
  for (std::exception_ptr* const error : errors) {
    if (!*error) *error = std::current_exception();
  }
}

/// The encoded pictures of a batch.
class Files {
 public:
  void add(Making& making, const Array& out, std::exception_ptr& error) {
    files_.push_back(making.file_to_decode(&out));
    errors_.push_back(&error);
  }

  void make(Device& device) {
    keep_errors(errors_, [&] { image::decode_files(device, files_); });
    for (size_t k = 0; k < files_.size(); ++k) {
      if (files_[k].item.error) *errors_[k] = files_[k].item.error;
    }
  }

 private:
  std::vector<image::FileToDecode> files_;
  std::vector<std::exception_ptr*> errors_;
};

/// The arrays of a batch that go through stages.
class Pictures {
 public:
  void add(Device& device, const Making& making, const Array& out, std::exception_ptr& error) {
    pictures_.push_back(making.value().start().to_device(device));
    chains_.push_back(*making.chain());
    outs_.push_back(out);
    errors_.push_back(&error);
  }
  void make() {
    if (!pictures_.empty()) keep_errors(errors_, [&] { image::apply_chains(chains_, pictures_, outs_); });
  }

 private:
  std::vector<image::Chain> chains_;
  std::vector<Array> pictures_, outs_;
  std::vector<std::exception_ptr*> errors_;
};

/// The arrays of a batch in the CPU's memory, such as labels. Small ones that lie side by side on the device are one
/// copy.
class Copies {
 public:
  void add(const Value& value, const Array& out) {
    const Array& start = value.start();
    const bool fits = start.shape() == out.shape() && start.dtype() == out.dtype();
    if (!fits || !start.device().target().is_host || bytes_of(out) > kMostGathered) {
      Array(out).assign(start);
      return;
    }
    copies_.push_back({start.contiguous(), static_cast<char*>(out.data()), bytes_of(out)});
  }

  void make(Device& device) {
    std::ranges::sort(copies_, {}, &Copy::to);
    std::vector<char> gathered;
    for (size_t begin = 0, end = 0; begin < copies_.size(); begin = end) {
      gathered.clear();
      char* const to = copies_[begin].to;
      for (; end < copies_.size() && copies_[end].to == to + gathered.size(); ++end) {
        const auto* const bytes = static_cast<const char*>(copies_[end].from.data());
        gathered.insert(gathered.end(), bytes, bytes + copies_[end].bytes);
      }
      device.copy(to, gathered.data(), gathered.size());
    }
  }

 private:
  static constexpr size_t kMostGathered = 256 << 10;
  struct Copy {
    Array from;
    char* to;
    size_t bytes;
  };
  static size_t bytes_of(const Array& array) { return static_cast<size_t>(array.size() * array.itemsize()); }

  std::vector<Copy> copies_;
};

}  // namespace

void make_on_device(Device& device, std::span<Making* const> values, std::span<const Array> outs,
                    std::span<std::exception_ptr> errors) {
  Files files;
  Pictures pictures;
  Copies copies;
  for (size_t k = 0; k < values.size(); ++k) {
    Making& making = *values[k];
    const Value& value = making.value();
    std::exception_ptr* const error = &errors[k];
    keep_errors({&error, 1}, [&] {
      if (value.is_encoded()) {
        files.add(making, outs[k], *error);
      } else if (making.chain()) {
        pictures.add(device, making, outs[k], *error);
      } else {
        copies.add(value, outs[k]);
      }
    });
  }
  copies.make(device);
  pictures.make();
  files.make(device);
}

StreamScope BatchStream::begin() {
  std::deque<Event> passed;  // destroyed without the lock
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      while (taken_.size() > kMostAhead && taken_.front().is_done()) {
        passed.push_back(std::move(taken_.front()));
        taken_.pop_front();
      }
      if (taken_.size() <= kMostAhead) return StreamScope(own_);
    }
    if (should_stop()) {
      throw_if_stopped();
      throw Interrupted("pipeline: interrupted while waiting for " + device_name(device_));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Event BatchStream::made() const {
  Event event(device_, {.timing = false});
  event.record(own_);
  return event;
}

void BatchStream::publish(const Batch& batch, const Event& made) {
  const Stream taker = Stream::current(device_);
  if (device_.is_capturing(taker.handle()))
    throw DeviceError("pipeline: a graph cannot take batches; take them before the capture begins");
  taker.wait_for(made);
  const auto use = [&](const Array& array) {
    if (array.valid() && &array.device() == &device_ && !array.buffer()->foreign())
      cuda::use_until_release(array.buffer()->data(), taker);
  };
  for (const Batch::Output& output : batch.outputs) {
    use(output.dense);
    std::ranges::for_each(output.arrays, use);
  }
  Event begun(device_, {.timing = false});
  begun.record(taker);
  const std::lock_guard lock(mutex_);
  taken_.push_back(std::move(begun));
}

}  // namespace iruka::pipeline
