#include "jit/resolve.h"

#include <algorithm>

#include "core/device.h"

namespace iruka::jit {

Placeholders placeholders_of(const KernelText& text) {
  Placeholders placeholders;
  std::string letters;
  for (size_t k = 0; k < text.parameter_count(); ++k) {
    const Parameter& parameter = text.parameter(k);
    if (parameter.dtype) {
      placeholders.slots.push_back(-1);
      continue;
    }
    const size_t at = letters.find(parameter.type);
    if (at == letters.npos) letters += parameter.type;
    placeholders.slots.push_back(static_cast<int>(at == letters.npos ? letters.size() - 1 : at));
  }
  placeholders.count = static_cast<int>(letters.size());
  return placeholders;
}

std::string parameter_prefix(const KernelText& text, size_t k) {
  return "kernel '" + text.name + "': parameter '" + text.parameter(k).name + "': ";
}

void check_arguments(const KernelText& text, std::span<const Argument> arguments) {
  const size_t given = arguments.size(), inputs = text.inputs.size();
  if (given != inputs && given != text.parameter_count())
    throw TypeError("kernel '" + text.name + "' takes " + std::to_string(inputs) +
                    (inputs == 1 ? " argument, or " : " arguments, or ") + std::to_string(text.parameter_count()) +
                    (text.outputs.size() == 1 ? " with its output, not " : " with outputs, not ") +
                    std::to_string(given));
  for (size_t k = inputs; k < given; ++k)
    if (!arguments[k].is_array())
      throw TypeError(parameter_prefix(text, k) + "an output must be an array, not a scalar");
  for (size_t k = 0; k < given; ++k)
    if (!arguments[k].is_array() && text.parameter(k).raw && !text.is_intermediate(k))
      throw TypeError(parameter_prefix(text, k) + "a raw parameter takes an array, not a scalar");
  for (size_t k = 0; k < inputs; ++k)
    if (text.parameter(k).is_by_value() && !arguments[k].is_array())
      throw TypeError(parameter_prefix(text, k) + "takes an array of " + std::to_string(text.parameter(k).extent) +
                      " elements, not a scalar");
  for (size_t k = 0; k < given; ++k)
    if (arguments[k].is_array() && !arguments[k].array().valid())
      throw TypeError(parameter_prefix(text, k) +
                      "the array is a default-constructed Array, which has no elements or device");
  for (size_t k = 0; k < inputs; ++k) {
    const int64_t extent = text.parameter(k).extent;
    if (extent > 0 && arguments[k].array().size() != extent)
      throw ShapeError(parameter_prefix(text, k) + "takes an array of " + std::to_string(extent) +
                       " elements, but the array has shape " + to_string(arguments[k].array().shape()));
  }
}

Device& resolve_device(const KernelText& text, std::span<const Argument> arguments) {
  Device* resolved = nullptr;
  size_t first = 0;
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].is_array() || text.parameter(k).is_by_value()) continue;
    Device& device = arguments[k].array().device();
    if (!resolved) {
      resolved = &device;
      first = k;
    } else if (resolved != &device) {
      throw ValueError(parameter_prefix(text, k) + "is on " + device.name() + ", but '" + text.parameter(first).name +
                       "' is on " + resolved->name());
    }
  }
  return resolved ? *resolved : default_device();
}

namespace {

/// The end of an error about argument `k`, an array whose dtype is not `wanted`. A copy would lose what a kernel
/// stores.
std::string but_the_array_is(const KernelText& text, size_t k, const Array& array, Dtype wanted) {
  const std::string words = std::string(", but the array is ") + name(array.dtype());
  if (text.is_stored(k)) return words;
  const bool may_be_scalar = array.shape().size() == 0 && !text.parameter(k).raw;
  return words + "; kernels do not cast arrays: pass its .astype('" + name(wanted) + "')" +
         (may_be_scalar ? ", or a scalar: float() or int() of it" : "");
}

}  // namespace

void check_stream(const KernelText& text, const Stream& stream, const Device& device) {
  if (&stream.device() != &device)
    throw ValueError("kernel '" + text.name + "': the stream is of " + stream.device().name() + ", the arrays are on " +
                     device.name());
}

void resolve_types(const KernelText& text, const Placeholders& placeholders, std::span<const Argument> arguments,
                   Dtype* dtypes) {
  const size_t given = arguments.size(), inputs = text.inputs.size();
  Dtype resolved[2 * 26 + 12];
  int resolved_by[2 * 26 + 12];
  std::fill_n(resolved_by, placeholders.count, -1);
  const auto resolve = [&](size_t k, Dtype dtype) {
    const bool is_array = arguments[k].is_array();
    const Parameter& parameter = text.parameter(k);
    const int slot = placeholders.slots[k];
    if (slot < 0) {
      if (is_array && dtype != *parameter.dtype)
        throw TypeError(parameter_prefix(text, k) + "must be " + name(*parameter.dtype) +
                        but_the_array_is(text, k, arguments[k].array(), *parameter.dtype));
    } else if (resolved_by[slot] < 0) {
      resolved[slot] = dtype;
      resolved_by[slot] = static_cast<int>(k);
    } else if (is_array && resolved[slot] != dtype) {
      throw TypeError(parameter_prefix(text, k) + "'" + parameter.type + "' is " + name(resolved[slot]) + " by '" +
                      text.parameter(static_cast<size_t>(resolved_by[slot])).name + "'" +
                      but_the_array_is(text, k, arguments[k].array(), resolved[slot]));
    }
  };
  for (size_t k = inputs; k < given; ++k) resolve(k, arguments[k].array().dtype());
  for (size_t k = 0; k < inputs; ++k)
    if (arguments[k].is_array()) resolve(k, arguments[k].array().dtype());
  for (const bool weak : {false, true})
    for (size_t k = 0; placeholders.count > 0 && k < inputs; ++k)
      if (!arguments[k].is_array() && arguments[k].scalar().weak() == weak) resolve(k, arguments[k].scalar().dtype());
  for (size_t k = 0; k < text.parameter_count(); ++k) {
    const int slot = placeholders.slots[k];
    if (slot >= 0 && resolved_by[slot] < 0)
      throw TypeError(parameter_prefix(text, k) + "the type '" + text.parameter(k).type +
                      "' is unknown: pass an output, or an input with this type");
    dtypes[k] = slot < 0 ? *text.parameter(k).dtype : resolved[slot];
  }
}

namespace {

std::string list_shapes(const KernelText& text, std::span<const Argument> arguments) {
  std::string list;
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].is_array() || !text.parameter(k).has_elements()) continue;
    list += (list.empty() ? "" : ", ") + text.parameter(k).name + " " + to_string(arguments[k].array().shape());
  }
  return list;
}

}  // namespace

Dims resolve_shape(const KernelText& text, std::span<const Argument> arguments, std::optional<int64_t> size) {
  const Dims* shapes[kMaxParameters];
  size_t plain = 0;
  for (size_t k = 0; k < arguments.size(); ++k)
    if (text.parameter(k).has_elements() && arguments[k].is_array()) shapes[plain++] = &arguments[k].array().shape();
  if (size) {
    if (plain > 0)
      throw ValueError("kernel '" + text.name +
                       "': size can be given only when every array is raw; not raw: " + list_shapes(text, arguments));
    if (*size < 0)
      throw ValueError("kernel '" + text.name + "': size must not be negative, not " + std::to_string(*size));
    return Dims{*size};
  }
  if (plain == 0) {
    const bool has_arrays = std::ranges::any_of(arguments, &Argument::is_array);
    throw ValueError("kernel '" + text.name + "': the loop's length is unknown, because " +
                     (has_arrays ? "every array is raw" : "no argument is an array") + ": pass size=");
  }
  bool same = true;
  for (size_t k = 1; same && k < plain; ++k) same = *shapes[k] == *shapes[0];
  if (same) return *shapes[0];
  try {
    return broadcast_shapes({shapes, plain});
  } catch (const ShapeError&) {
    throw ShapeError("kernel '" + text.name +
                     "': the arrays do not broadcast together: " + list_shapes(text, arguments));
  }
}

}  // namespace iruka::jit
