#include "pipeline/device_batch.h"

#include "iruka/error.h"

namespace iruka::pipeline {

void make_on_device(Device& device, std::span<const Value* const> values, std::span<const Array> outs,
                    std::span<std::exception_ptr> errors) {
  for (size_t k = 0; k < values.size(); ++k) {
    try {
      Array(outs[k]).assign(values[k]->array().to_device(device));
    } catch (const Interrupted&) {
      throw;
    } catch (const DeviceError&) {
      throw;
    } catch (...) {
      errors[k] = std::current_exception();
    }
  }
}

}  // namespace iruka::pipeline
