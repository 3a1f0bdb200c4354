// Copies between host and device. Pageable memory goes through page-locked buffers, of a large copy several at a time,
// so that the host's cores and the link work at the same time. The host's memory is free when the call returns.
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "backend/cuda/cuda_device.h"
#include "core/once.h"
#include "core/thread_pool.h"
#include "iruka/device.h"

namespace iruka::cuda_backend {
namespace {

/// Below this, one page-locked buffer is as fast.
constexpr size_t kStaged = size_t{4} << 20;
/// Up to this, the driver keeps pageable bytes with the command. From larger memory it copies behind the stream's
/// earlier work alone, for which the calling thread would wait.
constexpr size_t kKeptByDriver = 64 << 10;
/// Pieces of 8 MiB keep the link at 0.98 of its speed, of 1 MiB at 0.87 (H100).
constexpr int64_t kPieceBytes = int64_t{8} << 20;
constexpr int64_t kBuffers = 4;
/// What a thread copies at a time: small enough that the C library's memcpy stores through the caches, from where the
/// link reads faster than from memory (54 GB/s for 44).
constexpr int64_t kShareBytes = 256 << 10;

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

/// Page-locked memory for copies of all devices and for users.
class PinnedMemory final : public DriverSource {
 public:
  void* allocate(size_t bytes) noexcept override {
    constexpr unsigned kPortable = 1;  // pinned for every context
    void* memory = nullptr;
    const ContextScope active = try_to_activate();
    const AllowedWhileCapturing allowed;
    return active.is_active() && driver().cuMemHostAlloc(&memory, bytes, kPortable) == kSuccess ? memory : nullptr;
  }
  void release(void* memory, size_t) noexcept override {
    const ContextScope active = try_to_activate();
    const AllowedWhileCapturing allowed;
    if (active.is_active()) driver().cuMemFreeHost(memory);
  }
  bool synchronize() override {
    const std::vector<CudaDevice*> devices = made_devices();  // only these have work of this library
    if (std::ranges::any_of(devices, [](CudaDevice* device) { return device->is_capturing_any(); })) return false;
    for (CudaDevice* device : devices) device->finish_all_work();
    return true;
  }
  bool same_capture(StreamHandle, StreamHandle) noexcept override { return false; }

 private:
  /// Activates the context of any device of this library. The calling thread's context may belong to another library,
  /// which may destroy it together with its memory.
  static ContextScope try_to_activate() noexcept {
    try {
      return any_device().try_to_activate();
    } catch (...) {
      return {nullptr, 0};
    }
  }
};

struct ReturnEvent {
  CudaDevice* device;
  void operator()(CUevent event) const { device->give_back(event); }
};

struct Unpin {
  void operator()(char* memory) const { pinned_pool().release(memory); }
};
using PinnedBlock = std::unique_ptr<char, Unpin>;

/// A copy between pageable memory and the device in pieces. Each piece has a page-locked buffer, which the host's
/// threads fill or empty together. The last thread to finish a piece sends the next one, so that no thread waits for
/// all others.
class PiecewiseCopy {
 public:
  PiecewiseCopy(CudaDevice& device, CUstream stream, char* device_memory, char* host_memory, size_t bytes,
                bool is_upload)
      : device_(device),
        stream_(stream),
        device_memory_(device_memory),
        host_memory_(host_memory),
        bytes_(static_cast<int64_t>(bytes)),
        turns_((bytes_ + kPieceBytes - 1) / kPieceBytes),
        is_upload_(is_upload) {
    for (int64_t k = 0; k < std::min(kBuffers, turns_); ++k) {
      buffers_[k].event = {device.take_event(), ReturnEvent{&device}};
      buffers_[k].memory.reset(static_cast<char*>(pinned_pool().allocate(kPieceBytes)));
    }
  }
  ~PiecewiseCopy() {
    if (failed_.load()) driver().cuCtxSynchronize();  // a copy may have been sent without an event after it
    for (Buffer& buffer : buffers_)
      if (buffer.sent.load() >= 0) driver().cuEventSynchronize(buffer.event.get());
  }
  PiecewiseCopy(const PiecewiseCopy&) = delete;
  PiecewiseCopy& operator=(const PiecewiseCopy&) = delete;

  void run() {
    // The order of the pieces relative to later work must not depend on which thread sends them.
    device_.wait_for_earlier_work(stream_);
    if (!is_upload_)
      for (int64_t turn = 0; turn < std::min(kBuffers, turns_); ++turn) send(turn);
    auto& threads = ThreadPool::instance();
    threads.run(threads.thread_count(), 1, [this](int64_t, int64_t) { work(); });
  }

 private:
  struct Buffer {
    PinnedBlock memory;
    std::unique_ptr<CUevent_st, ReturnEvent> event;  ///< recorded after the copy of the last turn that was sent
    std::atomic<int64_t> sent{-1};                   ///< the last turn whose copy was sent
    std::atomic<int64_t> open{-1};                   ///< the last turn that the host's threads may fill or empty
    std::atomic<int64_t> left{0};                    ///< bytes of the open turn that the threads still have to copy
  };

  Buffer& buffer_of(int64_t turn) { return buffers_[turn % kBuffers]; }
  int64_t size_of(int64_t turn) const { return std::min(kPieceBytes, bytes_ - turn * kPieceBytes); }

  void check(CUresult result, const char* call) {
    if (result != kSuccess) failed_.store(true);
    cuda_backend::check(result, call, device_.name());
  }

  /// Waits until `reached` is at least `turn`. False if the loop was stopped or failed on another thread before.
  bool wait_for(const std::atomic<int64_t>& reached, int64_t turn) const {
    constexpr int kSpins = 10'000;  // longer than the link takes for one piece
    for (int spins = 0; reached.load(std::memory_order_acquire) < turn; ++spins) {
      if (failed_.load(std::memory_order_relaxed) || should_stop()) return false;
      if (spins < kSpins)
        _mm_pause();
      else
        std::this_thread::yield();
    }
    return true;
  }

  /// Copies shares on one thread until none is left. Threads take shares in order, so that they work on few pieces at a
  /// time while the link copies the others.
  void work() {
    static_assert(kPieceBytes % kShareBytes == 0);
    int64_t begin;
    while ((begin = next_.fetch_add(kShareBytes, std::memory_order_relaxed)) < bytes_)
      if (!move(begin / kPieceBytes, begin, std::min(bytes_, begin + kShareBytes))) return;
  }

  /// Puts the copy of a turn's piece into the stream.
  void send(int64_t turn) {
    Buffer& buffer = buffer_of(turn);
    const CUdeviceptr there = address(device_memory_ + turn * kPieceBytes), here = address(buffer.memory.get());
    const ContextScope active = device_.activate();
    check(driver().cuMemcpyAsync(is_upload_ ? there : here, is_upload_ ? here : there,
                                 static_cast<size_t>(size_of(turn)), stream_),
          "cuMemcpyAsync");
    check(driver().cuEventRecord(buffer.event.get(), stream_), "cuEventRecord");
    buffer.sent.store(turn, std::memory_order_release);
  }

  /// Waits until the buffer of a turn is free to be filled, or full to be emptied.
  bool open(int64_t turn) {
    Buffer& buffer = buffer_of(turn);
    const int64_t needed = is_upload_ ? turn - kBuffers : turn;
    if (needed >= 0) {
      if (!wait_for(buffer.sent, needed)) return false;
      check(driver().cuEventSynchronize(buffer.event.get()), "cuEventSynchronize");
    }
    buffer.left.store(size_of(turn), std::memory_order_relaxed);
    buffer.open.store(turn, std::memory_order_release);
    return true;
  }

  /// Copies [begin, end), which is within the piece of `turn`, between the buffer and the host's memory. False as
  /// wait_for().
  bool move(int64_t turn, int64_t begin, int64_t end) {
    if (should_stop()) return false;
    Buffer& buffer = buffer_of(turn);
    const int64_t first = turn * kPieceBytes, size = end - begin;
    if (begin == first ? !open(turn) : !wait_for(buffer.open, turn)) return false;
    char *pinned = buffer.memory.get() + (begin - first), *pageable = host_memory_ + begin;
    std::memcpy(is_upload_ ? pinned : pageable, is_upload_ ? pageable : pinned, static_cast<size_t>(size));
    if (buffer.left.fetch_sub(size, std::memory_order_acq_rel) > size) return true;
    const int64_t next = is_upload_ ? turn : turn + kBuffers;
    if (next < turns_) send(next);
    return true;
  }

  CudaDevice& device_;
  const CUstream stream_;
  char* const device_memory_;
  char* const host_memory_;
  const int64_t bytes_;
  const int64_t turns_;
  const bool is_upload_;
  std::atomic<int64_t> next_{0};  ///< the first byte that no thread has taken
  std::atomic<bool> failed_{false};
  Buffer buffers_[kBuffers];
};

}  // namespace

PinnedPool& pinned_pool() {
  return made_once_locked([] { return PinnedPool("pinned host memory", std::make_unique<PinnedMemory>()); });
}

void CudaDevice::reach(int other) {
  if (other == index_ || reached_[other].exchange(true)) return;
  int can = 0;
  const CudaDevice& peer = cuda_device(other);
  if (driver().cuDeviceCanAccessPeer(&can, handle_, peer.handle_) != kSuccess || !can) return;
  const ContextScope active = activate();
  driver().cuCtxEnablePeerAccess(peer.context_, 0);  // an error means that another library has already enabled it
}

void CudaDevice::wait_for_earlier_work(CUstream stream) {
  const AllowedWhileCapturing allowed;  // another thread may be capturing
  const std::unique_ptr<CUevent_st, ReturnEvent> event(take_event(), ReturnEvent{this});
  cuda_backend::check(driver().cuEventRecord(event.get(), stream), "cuEventRecord", name_);
  CUresult result;
  constexpr int kSpins = 1000;
  for (int spins = 0; (result = driver().cuEventQuery(event.get())) == kNotReady; ++spins) {
    if (should_stop()) {
      throw_if_stopped();
      throw Interrupted("copy: interrupted while waiting for " + name_);
    }
    if (spins < kSpins)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(spins - kSpins + 5, 100)));
  }
  cuda_backend::check(result, "cuEventQuery", name_);
  throw_if_asserted(stream);
}

void CudaDevice::copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const ContextScope active = activate();
  const CUstream stream = thread_stream();
  const MemoryPlace target_place = place_of(to), source_place = place_of(from);
  const unsigned target = target_place.type, source = source_place.type;
  if (target == kDeviceMemory && source == kDeviceMemory && target_place.device != source_place.device) {
    cuda_device(target_place.device).reach(source_place.device);
    cuda_device(source_place.device).reach(target_place.device);
  }
  if (target != kDeviceMemory && source != kDeviceMemory) {
    std::memcpy(to, from, bytes);
    return;
  }
  // A graph would keep the address, and each of its launches would read or write the memory that is there then.
  if (source == kPageable || target == kPageable)
    refuse_capture(stream, "copy: only copies to and from page-locked memory can be part of a graph; ");
  if ((source == kPageable || target == kPageable) && bytes >= kStaged) {
    auto *there = static_cast<char*>(to), *here = static_cast<char*>(const_cast<void*>(from));
    const bool is_upload = source == kPageable;
    if (!is_upload) std::swap(there, here);
    return PiecewiseCopy(*this, stream, there, here, bytes, is_upload).run();
  }
  PinnedBlock pinned;
  if (source == kPageable && bytes > kKeptByDriver) {
    pinned.reset(static_cast<char*>(pinned_pool().allocate(bytes)));
    std::memcpy(pinned.get(), from, bytes);
    from = pinned.get();
  }
  if (target == kPageable) wait_for_earlier_work(stream);
  cuda_backend::check(driver().cuMemcpyAsync(address(to), address(from), bytes, stream), "cuMemcpyAsync", name_);
  if (pinned) pinned_pool().record_use(pinned.get(), pool_stream(stream), index_);
  if (target == kPageable) cuda_backend::check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize", name_);
}

void CudaDevice::fill(void* to, int value, size_t bytes) {
  if (bytes == 0) return;
  const ContextScope active = activate();
  cuda_backend::check(driver().cuMemsetD8Async(address(to), static_cast<unsigned char>(value), bytes, thread_stream()),
                      "cuMemsetD8Async", name_);
}

}  // namespace iruka::cuda_backend
