#include "core/service.h"

namespace iruka {

void raise_missing_service(const char* service, const Device& device) {
  throw DeviceError(std::string(service) + ": " + device.name() + " does not offer it");
}

}  // namespace iruka
