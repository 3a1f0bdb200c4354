#include "iruka/stream.h"

#include <chrono>

#include "core/device.h"

namespace iruka {
namespace {

using Clock = std::chrono::steady_clock;

/// An event of a device whose calls return when their work is done.
struct HostEvent {
  bool is_recorded = false;
  Clock::time_point time;
};

HostEvent& host_event(EventHandle event) { return *static_cast<HostEvent*>(event); }

void check_same_device(const char* function, const Device& a, const Device& b) {
  if (&a != &b)
    throw ValueError(std::string(function) + ": the events and streams are of two devices, " + a.name() + " and " +
                     b.name());
}

}  // namespace

EventHandle Device::create_event(const EventOptions&) { return new HostEvent; }
void Device::destroy_event(EventHandle event) noexcept { delete &host_event(event); }
void Device::record_event(EventHandle event, StreamHandle) { host_event(event) = {true, Clock::now()}; }
double Device::elapsed_milliseconds(EventHandle begin, EventHandle end) {
  const HostEvent &first = host_event(begin), &last = host_event(end);
  if (!first.is_recorded || !last.is_recorded)
    throw DeviceError(name() + ": elapsed_milliseconds: an event was never recorded");
  return std::chrono::duration<double, std::milli>(last.time - first.time).count();
}

Stream::Stream(Device& device, const StreamOptions& options)
    : device_(&device), handle_(device.create_stream(options)), is_owned_(true) {}

void Stream::reset() noexcept {
  if (is_owned_) device_->destroy_stream(handle_);
  is_owned_ = false;
}

Stream Stream::current(Device& device) { return {device, device.current_stream()}; }

bool Stream::is_done() const { return device_->is_stream_done(handle_); }

void Stream::synchronize() const { device_->synchronize_stream(handle_); }

void Stream::wait_for(const Event& event) const {
  if (device_->target().is_host || event.device().target().is_host) return event.synchronize();
  device_->wait_for_event(handle_, event.handle());
}

void Stream::wait_for(const Stream& other) const {
  if (&other.device() == device_ && other.handle() == handle_) return;
  const Event event(other.device(), {.timing = false});
  event.record(other);
  wait_for(event);
}

Event::Event(Device& device, const EventOptions& options)
    : device_(&device), handle_(device.create_event(options)), is_owned_(true) {}

void Event::reset() noexcept {
  if (is_owned_) device_->destroy_event(handle_);
  is_owned_ = false;
}

void Event::record(const Stream& stream) const {
  check_same_device("record", *device_, stream.device());
  device_->record_event(handle_, stream.handle());
}

void Event::record() const { device_->record_event(handle_, device_->current_stream()); }

bool Event::is_done() const { return device_->is_event_done(handle_); }

void Event::synchronize() const { device_->synchronize_event(handle_); }

double elapsed_milliseconds(const Event& begin, const Event& end) {
  check_same_device("elapsed_milliseconds", begin.device(), end.device());
  return begin.device().elapsed_milliseconds(begin.handle(), end.handle());
}

StreamScope::StreamScope(Device& device, StreamHandle stream)
    : device_(device), before_(device.exchange_stream(stream)) {}

StreamScope::~StreamScope() { device_.exchange_stream(before_); }

}  // namespace iruka
