// How random kernels are kept, shaped and run.
#include "ops/random_kernels.h"

#include <map>
#include <memory>
#include <mutex>

#include "iruka/device.h"

namespace iruka::ops {

const ElementwiseKernel& kept_kernel(const KernelKey& key, const std::function<ElementwiseKernel()>& make) {
  static std::mutex mutex;
  static auto* kernels = new std::map<KernelKey, std::unique_ptr<ElementwiseKernel>>;  // outlives calls made at exit
  std::lock_guard lock(mutex);
  std::unique_ptr<ElementwiseKernel>& kernel = (*kernels)[key];
  if (!kernel) kernel = std::make_unique<ElementwiseKernel>(make());
  return *kernel;
}

void check_broadcast(const std::string& function, const Dims& parameters, const Dims& size) {
  const int extra = size.size() - parameters.size();
  bool fits = extra >= 0;
  for (int axis = 0; fits && axis < parameters.size(); ++axis)
    fits = parameters[axis] == 1 || parameters[axis] == size[axis + extra];
  if (!fits)
    throw ShapeError(function + ": parameters of shape " + to_string(parameters) + " do not broadcast to size " +
                     to_string(size));
}

Dims result_shape(const char* function, std::span<const Argument> parameters, const random::DrawOptions& options,
                  Dtype dtype) {
  std::vector<const Dims*> shapes;
  for (const Argument& parameter : parameters)
    if (parameter.is_array()) shapes.push_back(&parameter.array().shape());
  const Dims common = broadcast_shapes(shapes);
  if (options.out && options.out->dtype() != dtype)
    throw TypeError(std::string(function) + ": out has dtype " + name(options.out->dtype()) + ", the result " +
                    name(dtype));
  if (options.out && !options.out->writable()) throw ValueError(std::string(function) + ": out is read-only");
  if (options.out && options.size && !(options.out->shape() == *options.size))
    throw ShapeError(std::string(function) + ": size " + to_string(*options.size) + " is not out's shape " +
                     to_string(options.out->shape()));
  if (!options.out && !options.size) return common;
  const Dims wanted = options.out ? options.out->shape() : *options.size;
  count(wanted);
  check_broadcast(function, common, wanted);
  return wanted;
}

namespace {
std::vector<Argument> with_state(random::State state, std::span<const Argument> arguments, const Array& target) {
  std::vector<Argument> list = {typed(state.key), typed(state.drawn)};
  list.insert(list.end(), arguments.begin(), arguments.end());
  list.push_back(target);
  return list;
}
}  // namespace

// The last block may reach past the array, into its buffer.
Array run_blocks(const ElementwiseKernel& kernel, random::State state, std::span<const Argument> arguments,
                 const Dims& shape, Dtype dtype, int64_t per_block, const std::optional<Array>& out) {
  const int64_t elements = count(shape), blocks = (elements + per_block - 1) / per_block;
  const bool in_place = out && out->is_c_contiguous() && elements % per_block == 0;
  Device& device = out ? out->device() : default_device();
  const Array filled = in_place ? out->reshape({elements}) : Array::empty({blocks * per_block}, dtype, device);
  CallOptions options;
  options.size = blocks;
  kernel.call(with_state(state, arguments, filled), options);
  if (in_place) return *out;
  Array result(filled.buffer(), dtype, shape, c_strides(shape, itemsize(dtype)), filled.offset());
  if (!out) return result;
  Array target = *out;
  target.assign(result);
  return target;
}

Array run_elements(const ElementwiseKernel& kernel, random::State state, std::span<const Argument> arguments,
                   const Dims& shape, Dtype dtype, const std::optional<Array>& out) {
  const Array target = out ? *out : Array::empty(shape, dtype);
  kernel.call(with_state(state, arguments, target));
  return target;
}

}  // namespace iruka::ops
