#include "core/service.h"

namespace iruka {

void raise_missing_service(const char* service, const Device& device) {
  throw DeviceError(device.name() + " does not support " + service);
}

}  // namespace iruka
