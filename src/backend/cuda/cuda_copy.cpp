// Copies between host and device. Pageable memory goes through page-locked buffers, several at a time, so that the
// host's cores and the link work at once. Such a copy is over when it returns.
#include <algorithm>
#include <cstring>

#include "backend/cuda/cuda_device.h"
#include "iruka/device.h"

namespace iruka::cuda_backend {
namespace {

/// Below this, the driver's own staging is as fast.
constexpr size_t kStaged = size_t{4} << 20;
/// Large enough that waking the cores which fill a piece costs little beside it.
constexpr size_t kPiece = size_t{8} << 20;
constexpr size_t kPieces = 4;

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

/// Page-locked memory of all devices' staging and of users.
class PinnedMemory final : public DriverSource {
 public:
  void* allocate(size_t bytes) noexcept override {
    constexpr unsigned kPortable = 1;  // pinned for every context
    void* memory = nullptr;
    return is_ready() && driver().cuMemHostAlloc(&memory, bytes, kPortable) == kSuccess ? memory : nullptr;
  }
  void release(void* memory, size_t) noexcept override {
    if (is_ready()) driver().cuMemFreeHost(memory);
  }
  void synchronize() noexcept override {
    for (int index = 0; index < cuda_device_count(); ++index) {
      try {
        cuda_device(index).synchronize();
      } catch (...) {  // what failed there does not use the memory any more
      }
    }
  }
  bool same_capture(StreamHandle, StreamHandle) noexcept override { return false; }

 private:
  bool is_ready() const noexcept override {
    CUcontext current = nullptr;
    try {
      if (driver().cuCtxGetCurrent(&current) != kSuccess || !current) cuda_device(0).activate();
      return true;
    } catch (...) {
      return false;
    }
  }
};

/// Buffers by turns, each with an event behind the copy that uses it.
class Staging {
 public:
  explicit Staging(CudaDevice& device) : device_(device) {
    for (Piece& piece : pieces_) piece.memory = static_cast<char*>(pinned_pool().allocate(kPiece));
  }
  ~Staging() {
    for (Piece& piece : pieces_) {
      if (piece.event) {
        driver().cuEventSynchronize(piece.event);
        device_.give_back(piece.event);
      }
      if (piece.memory) pinned_pool().release(piece.memory);
    }
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  char* memory(size_t turn) { return pieces_[turn % kPieces].memory; }
  void wait(size_t turn) {
    if (const CUevent event = pieces_[turn % kPieces].event) check(driver().cuEventSynchronize(event), "cuEventSynchronize");
  }
  void record(size_t turn, CUstream stream) {
    CUevent& event = pieces_[turn % kPieces].event;
    if (!event) event = device_.take_event();
    check(driver().cuEventRecord(event, stream), "cuEventRecord");
  }

 private:
  struct Piece {
    char* memory = nullptr;
    CUevent event = nullptr;
  };
  CudaDevice& device_;
  Piece pieces_[kPieces];
};

}  // namespace

PinnedPool& pinned_pool() {
  static PinnedPool& pool = *new PinnedPool("pinned host memory", std::make_unique<PinnedMemory>());
  return pool;
}

void CudaDevice::upload(char* to, const char* from, size_t bytes, CUstream stream) {
  Staging staging(*this);
  for (size_t turn = 0, at = 0; at < bytes; ++turn, at += kPiece) {
    const size_t size = std::min(kPiece, bytes - at);
    staging.wait(turn);
    cpu().copy(staging.memory(turn), from + at, size, nullptr);
    cuda_backend::check(driver().cuMemcpyAsync(address(to + at), address(staging.memory(turn)), size, stream), "cuMemcpyAsync", name_);
    staging.record(turn, stream);
  }
}

void CudaDevice::download(char* to, const char* from, size_t bytes, CUstream stream) {
  Staging staging(*this);
  const size_t turns = (bytes + kPiece - 1) / kPiece;
  const auto size_of = [&](size_t turn) { return std::min(kPiece, bytes - turn * kPiece); };
  const auto request = [&](size_t turn) {
    if (turn >= turns) return;
    cuda_backend::check(driver().cuMemcpyAsync(address(staging.memory(turn)), address(from + turn * kPiece), size_of(turn), stream),
                        "cuMemcpyAsync", name_);
    staging.record(turn, stream);
  };
  for (size_t turn = 0; turn < kPieces; ++turn) request(turn);
  for (size_t turn = 0; turn < turns; ++turn) {
    staging.wait(turn);
    cpu().copy(to + turn * kPiece, staging.memory(turn), size_of(turn), nullptr);
    request(turn + kPieces);
  }
}

// A graph would keep the address, and read or write whatever is there at each of its launches.
void CudaDevice::refuse_while_capturing(CUstream stream) const {
  if (!may_capture(stream)) return;
  throw DeviceError("copy: the stream is being captured; " + name_ + " copies to and from pinned memory only until the capture ends");
}

void CudaDevice::reach(int other) {
  if (other == index_ || reached_[other].exchange(true)) return;
  int can = 0;
  const CudaDevice& peer = cuda_device(other);
  if (driver().cuDeviceCanAccessPeer(&can, handle_, peer.handle_) != kSuccess || !can) return;
  activate();
  driver().cuCtxEnablePeerAccess(peer.context_, 0);  // refused where another library has done it: as good
}

void CudaDevice::copy(void* to, const void* from, size_t bytes, StreamHandle given) {
  if (bytes == 0) return;
  activate();
  const CUstream stream = stream_or_current(given);
  const MemoryPlace target_place = place_of(to), source_place = place_of(from);
  const unsigned target = target_place.type, source = source_place.type;
  if (target == kDeviceMemory && source == kDeviceMemory && target_place.device != source_place.device) {
    cuda_device(target_place.device).reach(source_place.device);
    cuda_device(source_place.device).reach(target_place.device);
    activate();
  }
  if (target != kDeviceMemory && source != kDeviceMemory) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (source == kPageable || target == kPageable) refuse_while_capturing(stream);
  if (source == kPageable && bytes >= kStaged)
    return upload(static_cast<char*>(to), static_cast<const char*>(from), bytes, stream);
  if (target == kPageable && bytes >= kStaged)
    return download(static_cast<char*>(to), static_cast<const char*>(from), bytes, stream);
  cuda_backend::check(driver().cuMemcpyAsync(address(to), address(from), bytes, stream), "cuMemcpyAsync", name_);
  if (target == kPageable) cuda_backend::check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize", name_);
}

void CudaDevice::fill(void* to, int value, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  activate();
  cuda_backend::check(driver().cuMemsetD8Async(address(to), static_cast<unsigned char>(value), bytes, stream_or_current(stream)),
                      "cuMemsetD8Async", name_);
}

}  // namespace iruka::cuda_backend
