#include "iruka/stream.h"

#include <atomic>
#include <chrono>
#include <limits>

#include "core/device.h"

namespace iruka {
namespace {

using Clock = std::chrono::steady_clock;

/// An event of a device whose calls return when their work is done. Any thread may record it.
struct HostEvent {
  static constexpr Clock::rep kNever = std::numeric_limits<Clock::rep>::min();
  std::atomic<Clock::rep> ticks{kNever};
};

HostEvent& host_event(EventHandle event) { return *static_cast<HostEvent*>(event); }

void check_same_device(const char* function, const Device& a, const Device& b) {
  if (&a != &b)
    throw ValueError(std::string(function) + ": events and streams must belong to one device, not to " + a.name() +
                     " and " + b.name());
}

}  // namespace

EventHandle Device::create_event(const EventOptions&) { return new HostEvent; }
void Device::destroy_event(EventHandle event) noexcept { delete &host_event(event); }
void Device::record_event(EventHandle event, StreamHandle) {
  host_event(event).ticks.store(Clock::now().time_since_epoch().count());
}
double Device::elapsed_milliseconds(EventHandle begin, EventHandle end) {
  const Clock::rep first = host_event(begin).ticks.load(), last = host_event(end).ticks.load();
  if (first == HostEvent::kNever || last == HostEvent::kNever)
    throw DeviceError(name() + ": elapsed_milliseconds: both events must be recorded first");
  return std::chrono::duration<double, std::milli>(Clock::duration(last - first)).count();
}

void destroy_stream(Device& device, StreamHandle stream) noexcept { device.destroy_stream(stream); }
void destroy_event(Device& device, EventHandle event) noexcept { device.destroy_event(event); }

Stream::Stream(Device& device, const StreamOptions& options)
    : DeviceHandle(device, device.create_stream(options), true) {}

Stream Stream::current(Device& device) { return {device, device.current_stream()}; }

bool Stream::is_done() const { return device().is_stream_done(handle()); }

void Stream::synchronize() const { device().synchronize_stream(handle()); }

void Stream::wait_for(const Event& event) const {
  if (device().target().is_host || event.device().target().is_host) return event.synchronize();
  device().wait_for_event(handle(), event.handle());
}

void Stream::wait_for(const Stream& other) const {
  if (&other.device() == &device() && other.handle() == handle()) return;
  const Event event(other.device(), {.timing = false});
  event.record(other);
  wait_for(event);
}

Event::Event(Device& device, const EventOptions& options) : DeviceHandle(device, device.create_event(options), true) {}

void Event::record(const Stream& stream) const {
  check_same_device("record", device(), stream.device());
  device().record_event(handle(), stream.handle());
}

void Event::record() const { device().record_event(handle(), device().current_stream()); }

bool Event::is_done() const { return device().is_event_done(handle()); }

void Event::synchronize() const { device().synchronize_event(handle()); }

double elapsed_milliseconds(const Event& begin, const Event& end) {
  check_same_device("elapsed_milliseconds", begin.device(), end.device());
  return begin.device().elapsed_milliseconds(begin.handle(), end.handle());
}

StreamScope::StreamScope(Device& device, StreamHandle stream)
    : device_(device), before_(device.exchange_stream(stream)) {}

StreamScope::~StreamScope() { device_.exchange_stream(before_); }

}  // namespace iruka
