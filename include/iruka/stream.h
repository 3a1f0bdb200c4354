// Streams and events: the order in which a device does its work. Work of one stream is done in the order in which the
// stream got it; work of different streams may be done at the same time, unless one waits for the other.
//
// A device whose calls return when their work is done, such as the CPU, has one stream that is always done, and its
// events record the time.
#pragma once

#include <utility>

#include "iruka/device.h"
#include "iruka/export.h"

namespace iruka {

/// A backend's handle of a stream or an event: CUstream and CUevent for CUDA. A null stream is the device's default
/// one.
using StreamHandle = void*;
using EventHandle = void*;

struct StreamOptions {
  bool non_blocking = false;  ///< does not wait for the default stream, which does not wait for it
  int priority = 0;           ///< lower numbers go first
};

struct EventOptions {
  bool timing = true;     ///< elapsed_milliseconds() may be called
  bool blocking = false;  ///< threads that wait sleep
};

/// An owner of a device's handle. It destroys the handle, unless the handle is foreign.
template <class Handle, void (*destroy)(Device&, Handle) noexcept>
class DeviceHandle {
 public:
  ~DeviceHandle() {
    if (is_owned_) destroy(*device_, handle_);
  }
  DeviceHandle(DeviceHandle&& other) noexcept
      : device_(other.device_), handle_(other.handle_), is_owned_(std::exchange(other.is_owned_, false)) {}
  DeviceHandle& operator=(DeviceHandle&& other) noexcept {
    DeviceHandle taken(std::move(other));
    std::swap(device_, taken.device_);
    std::swap(handle_, taken.handle_);
    std::swap(is_owned_, taken.is_owned_);
    return *this;
  }

  Device& device() const { return *device_; }
  Handle handle() const { return handle_; }
  bool is_owned() const { return is_owned_; }

 protected:
  DeviceHandle(Device& device, Handle handle, bool is_owned) : device_(&device), handle_(handle), is_owned_(is_owned) {}

 private:
  Device* device_;
  Handle handle_;
  bool is_owned_;
};

/// Destroy handles of Device::create_stream() and Device::create_event().
IRUKA_API void destroy_stream(Device& device, StreamHandle stream) noexcept;
IRUKA_API void destroy_event(Device& device, EventHandle event) noexcept;

class Event;

/// A queue of work on a device. A stream that this class created is destroyed with the object, after its work; others
/// are only referred to. Any thread may use it. Raises DeviceError if a call of the device fails.
class IRUKA_API Stream : public DeviceHandle<StreamHandle, destroy_stream> {
 public:
  explicit Stream(Device& device, const StreamOptions& options = {});
  /// A stream of another owner, such as another library. It must live as long as it is used.
  static Stream foreign(Device& device, StreamHandle handle) { return {device, handle}; }
  static Stream default_of(Device& device) { return {device, nullptr}; }
  /// The calling thread's current stream on `device`: its memory, copies, launches and library calls belong to it.
  static Stream current(Device& device);

  /// Whether all work that the stream was given is done.
  bool is_done() const;
  /// Waits until all work is done. Raises DeviceError for errors of that work, such as failed assertions.
  void synchronize() const;
  /// Later work of this stream waits for the work before the event; an event that was never recorded has no effect.
  void wait_for(const Event& event) const;
  /// Later work of this stream waits for the work that `other` has now.
  void wait_for(const Stream& other) const;

 private:
  Stream(Device& device, StreamHandle handle) : DeviceHandle(device, handle, false) {}
};

/// A place in a stream's work. Recording it again moves it. It is owned like a stream.
class IRUKA_API Event : public DeviceHandle<EventHandle, destroy_event> {
 public:
  explicit Event(Device& device, const EventOptions& options = {});
  static Event foreign(Device& device, EventHandle handle) { return {device, handle}; }

  /// Puts the event behind the work that is now in `stream`, or in the calling thread's current stream.
  void record(const Stream& stream) const;
  void record() const;
  /// Whether the work before the event is done; true where the event was never recorded.
  bool is_done() const;
  void synchronize() const;

 private:
  Event(Device& device, EventHandle handle) : DeviceHandle(device, handle, false) {}
};

/// The time between two events on the device's clock. Raises DeviceError unless both have been recorded and reached.
IRUKA_API double elapsed_milliseconds(const Event& begin, const Event& end);

/// Makes a stream the calling thread's current one while it lives.
class IRUKA_API StreamScope {
 public:
  explicit StreamScope(const Stream& stream) : StreamScope(stream.device(), stream.handle()) {}
  StreamScope(Device& device, StreamHandle stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Device& device_;
  const StreamHandle before_;
};

}  // namespace iruka
