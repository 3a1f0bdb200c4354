#include "jit/kernel_call.h"

namespace iruka::jit {

KernelCall::KernelCall(ElementwiseKernel::State& kernel, std::span<const Argument> arguments,
                       const CallOptions& options, const StageCall* stages)
    : kernel_(kernel), arguments_(arguments), given_(arguments.size()) {
  if (options.block_size <= 0)
    throw ValueError("kernel '" + kernel_.text.name + "': block_size must be greater than zero, not " +
                     std::to_string(options.block_size));
  check_arguments(kernel_.text, arguments_);
  device_ = &resolve_device(kernel_.text, arguments_);
  if (options.stream) {
    check_stream(kernel_.text, *options.stream, *device_);
    stream_.emplace(*options.stream);
  }
  resolve_types(kernel_.text, kernel_.placeholders, arguments_, types_);
  shape_ = resolve_shape(kernel_.text, arguments_, options.size);
  make_outputs(options);
  copy_overlapping_inputs();
  describe();
  bring_values();
  launch_.emplace(kernel_, *device_, shape_, std::span<const Operand>(operands_, parameter_count()), stages);
}

void KernelCall::check_stored(size_t k) const {
  const Array& target = arguments_[k].array();
  if (!target.writable()) target.check_writable(where(k) + "the array");
  if (!kernel_.text.parameter(k).raw && !(target.shape() == shape_))
    throw ShapeError(where(k) + "the array has shape " + to_string(target.shape()) + ", but the loop has shape " +
                     to_string(shape_));
}

void KernelCall::make_outputs(const CallOptions& options) {
  made_outputs_.reserve(parameter_count() - given_);
  for (size_t k = given_; k < parameter_count(); ++k) {
    if (kernel_.text.parameter(k).raw && !options.size)
      throw ValueError(where(k) + "a raw output has no shape of its own: give the array to fill, or size=");
    made_outputs_.push_back(Array::empty(shape_, types_[k], *device_));
  }
  for (size_t k = input_count(); k < given_; ++k) check_stored(k);
  for (size_t k = 0; k < input_count(); ++k)
    if (kernel_.text.is_stored(k) && arguments_[k].is_array()) check_stored(k);
}

// As in NumPy, an input that partly overlaps a given output is read with its values from before the call.
void KernelCall::copy_overlapping_inputs() {
  for (size_t k = 0; given_ > input_count() && k < input_count(); ++k) {
    const bool is_plain =
        kernel_.text.parameter(k).has_elements() && arguments_[k].is_array() && kernel_.text.mentions(k);
    if (!is_plain || kernel_.text.is_stored(k)) continue;
    const Array& input = arguments_[k].array();
    for (size_t out = input_count(); out < given_; ++out) {
      const Array& output = arguments_[out].array();
      if (kernel_.text.parameter(out).raw || !input.may_overlap(output)) continue;
      const Overlap shared = overlap(input, output);
      if (shared == Overlap::none || shared == Overlap::identical) continue;
      input_copies_.push_back(input.copy());
      input_copy_index_.push_back(k);
      break;
    }
  }
}

/// Elements by value lie on the host, one behind the other.
void KernelCall::bring_values() {
  for (size_t k = 0; k < input_count(); ++k) {
    if (!kernel_.text.parameter(k).is_by_value()) continue;
    const Array& given = arguments_[k].array();
    if (given.device().target().is_host && given.is_c_contiguous()) continue;
    std::vector<std::byte>& bytes = values_.emplace_back(static_cast<size_t>(given.nbytes()));
    Device& device = given.device();
    const Array dense = given.contiguous();
    device.copy(bytes.data(), dense.data(), bytes.size());
    device.synchronize_stream(device.current_stream());
    operands_[k].data = bytes.data();
  }
}

void KernelCall::describe() {
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (k >= given_)
      operands_[k] = Operand(made_outputs_[k - given_]);
    else if (arguments_[k].is_array())
      operands_[k] = Operand(arguments_[k].array());
    else
      operands_[k] = Operand(arguments_[k].scalar(), types_[k]);
  }
  for (size_t copy = 0; copy < input_copies_.size(); ++copy)
    operands_[input_copy_index_[copy]] = Operand(input_copies_[copy]);
}

}  // namespace iruka::jit
