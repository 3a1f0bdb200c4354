// Services: what each kind of device does in a way of its own.
//
// A service is a class with the static member `Implementations<Service> implementations`, declared in a header of
// its family. One file a kind of device implements it, and `device.service<Service>()` is the only choice among them.
#pragma once

#include <array>
#include <type_traits>

#include "core/device.h"

namespace iruka {

/// Who implements a service, in the order of DeviceKind; null where a kind lacks the service.
template <class Service>
struct Implementations {
  const char* name;  ///< of the service, for messages
  std::array<Service& (*)(Device&), kDeviceKinds> of_kind;
};

/// The same where one object serves all devices of a kind.
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
