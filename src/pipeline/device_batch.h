// Makes the values of a batch on a GPU, all together.
#pragma once

#include <exception>
#include <span>

#include "iruka/pipeline.h"

namespace iruka::pipeline {

/// Each value into the array of the same number, which lies on the device. An error is its value's; only an
/// interruption or a device that fails ends the batch.
void make_on_device(Device& device, std::span<const Value* const> values, std::span<const Array> outs,
                    std::span<std::exception_ptr> errors);

}  // namespace iruka::pipeline
