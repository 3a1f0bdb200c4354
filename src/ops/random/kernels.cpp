// How random kernels are kept, shaped and run.
#include "ops/random/kernels.h"

#include <algorithm>

#include "iruka/device.h"
#include "jit/launch_policy.h"
#include "ops/permanent_cache.h"

namespace iruka::ops {

const ElementwiseKernel& cached_kernel(const KernelKey& key, const std::function<ElementwiseKernel()>& make) {
  static constinit PermanentCache<KernelKey, ElementwiseKernel> kernels;
  return kernels.get(key, make);
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
  if (options.out) options.out->check_writable(std::string(function) + ": out");
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

int64_t pack_elements(Dtype dtype, int64_t most) { return std::min<int64_t>(most, 16 / itemsize(dtype)); }

bool takes_packs(const std::optional<Array>& out) {
  return (out ? out->device() : default_device()).service<jit::LaunchPolicy>().has_grid;
}

// The last pack may reach past the array, into its buffer.
Array run_filling(const ElementwiseKernel& kernel, random::State state, std::span<const Argument> arguments,
                  const Dims& shape, Dtype dtype, Filling filling, const std::optional<Array>& out) {
  constexpr int64_t kThreadsWanted = 1 << 17, kMostRounds = 8;  // rounds only where every multiprocessor has work
  const int64_t elements = count(shape), packs = (elements + filling.elements - 1) / filling.elements;
  const bool in_place = out && out->is_c_contiguous() && elements % filling.elements == 0 &&
                        (!filling.packed || reinterpret_cast<uintptr_t>(out->data()) % 16 == 0);
  Device& device = out ? out->device() : default_device();
  const Array filled = in_place ? out->reshape({elements}) : Array::empty({packs * filling.elements}, dtype, device);
  std::vector<Argument> all(arguments.begin(), arguments.end());
  CallOptions options;
  options.size = packs;
  if (filling.packed) {
    const int64_t rounds = std::clamp<int64_t>(packs / kThreadsWanted, 1, kMostRounds);
    all.push_back(Scalar(packs).typed(Dtype::int64));
    all.push_back(Scalar(rounds).typed(Dtype::int32));
    options.size = (packs + 32 * rounds - 1) / (32 * rounds) * 32;
  }
  kernel.fill(with_state(state, all, filled), options);
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
  kernel.fill(with_state(state, arguments, target));
  return target;
}

}  // namespace iruka::ops
