// Services: tasks that each kind of device implements in its own way.  A service is a class with the static member
// `Implementations<Service> implementations`, declared in a header of its family. One file implements it for each kind
// of device; only `device.service<Service>()` chooses between them.
#pragma once

#include <array>
#include <type_traits>

#include "core/device.h"

namespace iruka {

/// The implementations of a service, in the order of DeviceKind; null where a kind lacks the service.
template <class Service>
struct Implementations {
  const char* name;  ///< of the service, for error messages
  std::array<Service& (*)(Device&), kDeviceKinds> of_kind;
};

/// The same for services with one object for all devices of a kind.
template <class Service>
struct Implementations<const Service> {
  const char* name;
  std::array<const Service*, kDeviceKinds> of_kind;
};

[[noreturn]] void raise_missing_service(const char* service, const Device& device);

template <class Service>
auto* Device::find_service() {
  const auto found = Service::implementations.of_kind[static_cast<size_t>(target().kind)];
  if constexpr (std::is_convertible_v<decltype(found), const Service*>)
    return found;
  else
    return found ? &found(*this) : nullptr;
}

template <class Service>
auto& Device::service() {
  auto* const found = find_service<Service>();
  if (!found) raise_missing_service(Service::implementations.name, *this);
  return *found;
}

}  // namespace iruka
