// Streams and events of a GPU.
#include "backend/cuda/cuda_device.h"

namespace iruka::cuda_backend {
namespace {

CUstream as_stream(StreamHandle stream) { return static_cast<CUstream>(stream); }
CUevent as_event(EventHandle event) { return static_cast<CUevent>(event); }

}  // namespace

StreamHandle CudaDevice::create_stream(const StreamOptions& options) {
  const ContextScope active = activate();
  CUstream stream = nullptr;
  cuda_backend::check(driver().cuStreamCreateWithPriority(
                          &stream, options.non_blocking ? unsigned{kStreamNonBlocking} : 0u, options.priority),
                      "cuStreamCreateWithPriority", name_);
  return stream;
}

// On a device that has failed, or in a child of fork(), there is nothing left to destroy.
void CudaDevice::destroy_stream(StreamHandle stream) noexcept {
  try {
    const ContextScope active = activate();
    cancel_capture(as_stream(stream));
    const bool is_done = driver().cuStreamSynchronize(as_stream(stream)) == kSuccess;
    pool_.forget_stream(stream, is_done);
    pinned_pool().forget_stream(stream, is_done);
    if (is_done) assertions_.forget_stream(as_stream(stream));
    if (thread_stream() == stream) thread_stream() = nullptr;
    driver().cuStreamDestroy(as_stream(stream));
  } catch (...) {
  }
}

bool CudaDevice::is_stream_done(StreamHandle stream) {
  const ContextScope active = activate();
  refuse_capture(as_stream(stream), "wait: ");
  const CUresult result = driver().cuStreamQuery(as_stream(stream));
  if (result == kNotReady) return false;
  cuda_backend::check(result, "cuStreamQuery", name_);
  return true;
}

void CudaDevice::synchronize_stream(StreamHandle stream) {
  const ContextScope active = activate();
  refuse_capture(as_stream(stream), "wait: ");
  cuda_backend::check(driver().cuStreamSynchronize(as_stream(stream)), "cuStreamSynchronize", name_);
  throw_if_asserted(as_stream(stream));
}

bool CudaDevice::is_capturing(StreamHandle stream) {
  const ContextScope active = activate();
  return may_capture(as_stream(stream));
}

EventHandle CudaDevice::create_event(const EventOptions& options) {
  const ContextScope active = activate();
  const AllowedWhileCapturing allowed;
  CUevent event = nullptr;
  cuda_backend::check(
      driver().cuEventCreate(&event, (options.timing ? unsigned{kEventDefault} : unsigned{kEventNoTiming}) |
                                         (options.blocking ? unsigned{kEventBlocking} : 0u)),
      "cuEventCreate", name_);
  return event;
}

void CudaDevice::destroy_event(EventHandle event) noexcept {
  try {
    const ContextScope active = activate();
    const AllowedWhileCapturing allowed;
    driver().cuEventDestroy(as_event(event));
  } catch (...) {
  }
}

void CudaDevice::record_event(EventHandle event, StreamHandle stream) {
  const ContextScope active = activate();
  cuda_backend::check(driver().cuEventRecord(as_event(event), as_stream(stream)), "cuEventRecord", name_);
}

bool CudaDevice::is_event_done(EventHandle event) {
  const ContextScope active = activate();
  const AllowedWhileCapturing allowed;
  const CUresult result = driver().cuEventQuery(as_event(event));
  if (result == kNotReady) return false;
  cuda_backend::check(result, "cuEventQuery", name_);
  return true;
}

void CudaDevice::synchronize_event(EventHandle event) {
  const ContextScope active = activate();
  cuda_backend::check(driver().cuEventSynchronize(as_event(event)), "cuEventSynchronize", name_);
}

void CudaDevice::wait_for_event(StreamHandle stream, EventHandle event) {
  const ContextScope active = activate();
  cuda_backend::check(driver().cuStreamWaitEvent(as_stream(stream), as_event(event), 0), "cuStreamWaitEvent", name_);
}

double CudaDevice::elapsed_milliseconds(EventHandle begin, EventHandle end) {
  const ContextScope active = activate();
  const AllowedWhileCapturing allowed;
  float milliseconds = 0;
  cuda_backend::check(driver().cuEventElapsedTime(&milliseconds, as_event(begin), as_event(end)), "cuEventElapsedTime",
                      name_);
  return milliseconds;
}

}  // namespace iruka::cuda_backend
