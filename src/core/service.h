// Services: what each kind of device does in a way of its own.
//
// A service is a class with the static member `Implementations<Service> implementations`, declared in a header of
// its family. One file a kind of device implements it, and `device.service<Service>()` is the only choice among them.
#pragma once

#include <array>
#include <string>

#include "core/device.h"

namespace iruka {

/// Who implements a service. `Service` is const where all devices of a kind share what implements it.
template <class Service>
struct Implementations {
  const char* name;  ///< of the service, for messages
  /// In the order of DeviceKind; null where a kind lacks the service.
  std::array<Service& (*)(Device&), kDeviceKinds> of_kind;
};

/// An implementation that is the same for every device of its kind.
template <const auto& kImplementation>
const auto& shared(Device&) {
  return kImplementation;
}

template <class Service>
auto* Device::find_service() {
  const auto find = Service::implementations.of_kind[static_cast<size_t>(target().kind)];
  return find ? &find(*this) : nullptr;
}

template <class Service>
auto& Device::service() {
  if (auto* const found = find_service<Service>()) return *found;
  throw DeviceError(std::string(Service::implementations.name) + ": " + name() + " does not offer it");
}

}  // namespace iruka
