// Calls of elementwise functions: resolves dtypes, builds a kernel for them once, checks outputs, and resolves overlap.
#include <algorithm>
#include <cstring>
#include <memory>

#include "core/device.h"
#include "core/once.h"
#include "ops/elementwise/cast_text.h"
#include "ops/elementwise/loop_types.h"
#include "ops/elementwise/row_text.h"
#include "ops/listener.h"
#include "ops/permanent_cache.h"

namespace iruka {
namespace ops {

/// A row's kernel for one combination of argument dtypes. Published once, kept for the life of the process.
struct Variant {
  LoopTypes types;
  ElementwiseKernel kernel;
};

namespace {

using Row = ElementwiseFunction::Row;

/// The variants of a row by variant_key().
PermanentCache<uint64_t, Variant>& variants_of(const Row& row) {
  const auto& variants =
      made_once([] { return std::make_unique<PermanentCache<uint64_t, Variant>[]>(elementwise_table().size()); });
  return variants[static_cast<size_t>(&row - elementwise_table().data())];
}

/// The parts of CallRules that determine the dtypes and the kernel's text.
struct VariantRules {
  std::optional<Dtype> forced;  ///< the loop
  Casting casting;
  bool masked;
};

/// Everything a variant depends on: each argument's dtype, whether it is an array or a literal, and the rules.
uint64_t variant_key(std::span<const Argument> arguments, const VariantRules& rules) {
  uint64_t key = rules.forced ? static_cast<uint64_t>(*rules.forced) + 1 : 0;
  key = (key << 3 | static_cast<uint64_t>(rules.casting)) << 1 | rules.masked;
  for (const Argument& argument : arguments) {
    const Dtype own = argument.is_array() ? argument.array().dtype() : argument.scalar().dtype();
    const bool weak = !argument.is_array() && argument.scalar().weak();
    key = key << 6 | static_cast<uint64_t>(own) << 2 | static_cast<uint64_t>(argument.is_array()) << 1 | weak;
  }
  return key << 3 | arguments.size();
}

std::string type_name(Dtype dtype) { return name(dtype); }

std::string input_line(const LoopTypes& types, size_t k, Dtype own) {
  const std::string id = std::to_string(k);
  return std::string("const ") + info(computing_dtype(types.types[k])).c_type + " in" + id + " = " +
         input_text(types, k, own, "a" + id) + ";\n";
}

/// A masked kernel takes the mask and the outputs' old values after its inputs.
ElementwiseKernel make_kernel(const Row& row, const LoopTypes& types, std::span<const Argument> arguments,
                              bool masked) {
  const size_t inputs = static_cast<size_t>(input_count(row)), outputs = static_cast<size_t>(output_count(row));
  const bool is_quiet =
      row.quiet != Quiet::no && is_inexact(types.loop) && (row.quiet == Quiet::all || is_complex(types.loop));
  std::string in_params, out_params, before, after;
  for (size_t k = 0; k < inputs; ++k) {
    const Dtype own = arguments[k].is_array() ? arguments[k].array().dtype() : types.types[k];
    in_params += (k ? ", " : "") + type_name(own) + " a" + std::to_string(k);
    before += input_line(types, k, own);
  }
  if (masked) in_params += ", bool mask";
  for (size_t k = 0; k < outputs; ++k) {
    const std::string id = std::to_string(k);
    const Dtype from = types.types[inputs + k], computing = computing_dtype(from);
    if (is_quiet) after += "\nout" + id + " = op::with_exceptions(out" + id + ");";
    const bool given = inputs + k < arguments.size();
    const Dtype to = given ? arguments[inputs + k].array().dtype() : from;
    out_params += (k ? ", " : "") + type_name(to) + " r" + id;
    before += std::string(info(computing).c_type) + " out" + id + ";\n";
    const std::string result = output_text(k, from, to);
    after += "\nr" + id + " = " + (masked ? "mask ? " + result + " : p" + id : result) + ";";
    if (masked) in_params += ", " + type_name(to) + " p" + id;
  }
  KernelOptions options;
  options.diagnose_early = false;
  options.options = {"--fmad=false"};  // as NumPy rounds, and the same on every device
  options.preamble = body_names(row, types.loop);
  return ElementwiseKernel(in_params, out_params, before + row.body + after, row.name, std::move(options));
}

void check_outputs_cast(const Row& row, const LoopTypes& types, std::span<const Argument> outputs, Casting casting) {
  const size_t inputs = static_cast<size_t>(input_count(row));
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Dtype from = types.types[inputs + k], to = outputs[k].array().dtype();
    if (can_cast(from, to, casting)) continue;
    throw TypeError(std::string("Cannot cast ufunc '") + row.name + "' output from dtype('" + name(from) +
                    "') to dtype('" + name(to) + "') with casting rule '" + name(casting) + "'");
  }
}

const Variant& find_variant(const Row& row, std::span<const Argument> arguments, const VariantRules& rules) {
  return variants_of(row).get(variant_key(arguments, rules), [&] {
    const size_t inputs = static_cast<size_t>(input_count(row));
    const LoopTypes types = loop_types(row, arguments.first(inputs), rules.forced, rules.casting);
    check_outputs_cast(row, types, arguments.subspan(inputs), rules.casting);
    return Variant{types, make_kernel(row, types, arguments, rules.masked)};
  });
}

/// The scalar as the loop's type, so that the kernel passes it as it is. A NumPy scalar is cast; a literal must fit.
Scalar cast_scalar(const Scalar& scalar, Dtype dtype) {
  check_literal_fits(scalar, dtype);
  alignas(16) std::byte element[16];
  scalar.store(dtype, element);
  return Scalar::load(dtype, element);
}

bool may_be_negative(Dtype dtype, Dtype loop) {
  return kind(dtype) == Kind::signed_integer || !can_cast(dtype, loop, Casting::safe);
}

/// NumPy's rule: inputs broadcast to a given output, which itself is never broadcast.
void check_outputs(const Row& row, size_t inputs, std::span<const Argument> arguments, const Array* mask) {
  std::vector<const Dims*> shapes;
  if (mask) shapes.push_back(&mask->shape());
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].is_array()) continue;
    if (k >= inputs && !arguments[k].array().writable())
      arguments[k].array().check_writable(std::string(row.name) + ": output array");
    shapes.push_back(&arguments[k].array().shape());
  }
  const Dims common = broadcast_shapes(shapes);
  for (const Argument& output : arguments.subspan(inputs))
    if (!(output.array().shape() == common))
      throw ShapeError("non-broadcastable output operand with shape " + to_string(output.array().shape()) +
                       " doesn't match the broadcast shape " + to_string(common));
}

/// Whether all arrays have one shape and the outputs are writable, so that a kernel takes them unchanged.
bool is_uniform(size_t inputs, std::span<const Argument> arguments) {
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].is_array() || (k >= inputs && !arguments[k].array().writable())) return false;
    if (!(arguments[k].array().shape() == arguments[0].array().shape())) return false;
  }
  return true;
}

/// Whether outputs allocated by the kernel, in C order, have the layout `order`.
bool lies_in_c_order(std::span<const Argument> inputs, MemoryOrder order) {
  if (order == MemoryOrder::c) return true;
  if (order == MemoryOrder::fortran) return false;
  return std::all_of(inputs.begin(), inputs.end(), [](const Argument& input) {
    return !input.is_array() || input.array().ndim() < 2 || input.array().is_c_contiguous();
  });
}

bool all_f_contiguous(std::span<const Argument> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [](const Argument& input) {
    return !input.is_array() || (input.array().is_f_contiguous() && !input.array().is_c_contiguous());
  });
}

/// An uninitialised array with the layout `order`.
Array empty_in_order(const Dims& shape, Dtype dtype, std::span<const Argument> inputs, MemoryOrder order,
                     Device& device) {
  const int ndim = shape.size();
  Dims axes(ndim);
  for (int k = 0; k < ndim; ++k) axes[k] = order == MemoryOrder::fortran ? ndim - 1 - k : k;
  if (order == MemoryOrder::keep) axes = axes_by_stride(inputs, ndim);
  Dims extents(ndim), back(ndim);
  for (int k = 0; k < ndim; ++k) {
    extents[k] = shape[static_cast<int>(axes[k])];
    back[static_cast<int>(axes[k])] = k;
  }
  return Array::empty(extents, dtype, device).transpose(back);
}

/// Outputs for a call that gives none, of the shape that inputs and mask broadcast to.
std::vector<Array> make_outputs(const Row& row, const LoopTypes& types, std::span<const Argument> inputs,
                                const CallRules& rules) {
  std::vector<const Dims*> shapes;
  Device* device = &default_device();
  for (size_t k = inputs.size(); k-- > 0;) {
    if (!inputs[k].is_array()) continue;
    shapes.insert(shapes.begin(), &inputs[k].array().shape());
    device = &inputs[k].array().device();
  }
  if (rules.where) shapes.push_back(&rules.where->shape());
  if (rules.where && shapes.size() == 1) device = &rules.where->device();
  const Dims shape = broadcast_shapes(shapes);
  MemoryOrder order = rules.order;
  if (order == MemoryOrder::any) order = all_f_contiguous(inputs) ? MemoryOrder::fortran : MemoryOrder::c;
  std::vector<Array> outputs;
  outputs.reserve(static_cast<size_t>(output_count(row)));
  for (int k = 0; k < output_count(row); ++k)
    outputs.push_back(
        empty_in_order(shape, types.types[inputs.size() + static_cast<size_t>(k)], inputs, order, *device));
  return outputs;
}

/// A call with scalars, given outputs, an order or a mask: scalars are cast, and scalars alone give 0-d arrays.
std::vector<Array> call_general(const Row& row, const Variant& variant, std::span<const Argument> arguments,
                                const CallRules& rules) {
  const size_t inputs = static_cast<size_t>(input_count(row));
  std::vector<Argument> list(arguments.begin(), arguments.end());
  bool any_array = arguments.size() > inputs;
  for (size_t k = 0; k < inputs; ++k) {
    any_array |= list[k].is_array();
    if (!list[k].is_array()) list[k] = Argument(cast_scalar(list[k].scalar(), variant.types.types[k]));
  }
  std::vector<Array> made;
  const bool is_kernels_own = any_array && !rules.where && lies_in_c_order(arguments.first(inputs), rules.order);
  if (arguments.size() == inputs && !is_kernels_own) {
    made = make_outputs(row, variant.types, arguments.first(inputs), rules);
    list.insert(list.end(), made.begin(), made.end());
  }
  if (arguments.size() > inputs) check_outputs(row, inputs, arguments, rules.where);
  if (rules.where) {
    const std::vector<Argument> outputs(list.begin() + static_cast<std::ptrdiff_t>(inputs), list.end());
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(inputs), outputs.begin(), outputs.end());
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(inputs), Argument(*rules.where));
  }
  if (list.size() == inputs) return variant.kernel.call(list);
  variant.kernel.fill(list);
  return made;
}

bool is_empty(const Argument& argument) { return argument.is_array() && argument.array().size() == 0; }

/// A literal that the other side cannot hold is compared as the 64-bit integer it is.
bool needs_own_type(const Argument& argument, const Argument& other) {
  if (argument.is_array() || !argument.scalar().weak() || !is_integer(argument.scalar().dtype())) return false;
  const Dtype dtype = other.is_array() ? other.array().dtype() : other.scalar().dtype();
  return is_integer(dtype) && (other.is_array() || !other.scalar().weak()) && !argument.scalar().fits(dtype);
}

/// x ** 2 is x * x: exact, and as fast as memory.
std::optional<ElementwiseFunction> cheaper_power(std::span<const Argument> arguments) {
  if (!arguments[0].is_array() || arguments[1].is_array() || !arguments[1].scalar().weak()) return {};
  const Argument& exponent = arguments[1];
  if (is_complex(exponent.scalar().dtype()) || arguments[0].array().dtype() == Dtype::bool_) return {};
  const bool integers = is_integer(arguments[0].array().dtype());
  if (exponent.scalar().as_double() != 2.0 || (integers && !is_integer(exponent.scalar().dtype()))) return {};
  return ElementwiseFunction("square");
}

}  // namespace

Dims axes_by_stride(std::span<const Argument> inputs, int ndim) {
  auto stride = [ndim](const Array& x, int64_t axis) {
    const int own = static_cast<int>(axis) - (ndim - x.ndim());
    return own < 0 || x.shape(own) == 1 ? 0 : std::abs(x.strides()[own]);
  };
  // 1: `outer` must stay outside `inner`; -1: it must not; 0: the inputs allow both.
  auto compared = [&](int64_t outer, int64_t inner) {
    int verdict = 0;
    for (const Argument& input : inputs) {
      if (!input.is_array()) continue;
      const int64_t outside = stride(input.array(), outer), inside = stride(input.array(), inner);
      if (outside == 0 || inside == 0) continue;
      if (inside <= outside) {
        verdict = 1;
      } else if (verdict == 0) {
        verdict = -1;
      }
    }
    return verdict;
  };
  Dims order(ndim);  // from the innermost
  for (int axis = ndim - 1, count = 0; axis >= 0; --axis, ++count) {
    int place = count;
    for (int other = count - 1; other >= 0; --other) {
      const int verdict = compared(axis, order[other]);
      if (verdict < 0) place = other;
      if (verdict > 0) break;
    }
    std::copy_backward(order.begin() + place, order.begin() + count, order.begin() + count + 1);
    order[place] = axis;
  }
  std::reverse(order.begin(), order.end());
  return order;
}

void check_exponents(const Argument& exponent, Dtype loop, const Array* where) {
  if (kind(loop) != Kind::signed_integer) return;
  bool negative = false;
  if (!exponent.is_array()) {
    negative = cast_scalar(exponent.scalar(), loop).as_int64() < 0;
  } else if (exponent.array().size() > 0 && may_be_negative(exponent.array().dtype(), loop)) {
    const Array exponents = exponent.array().astype(loop);
    const Array counted = where ? iruka::where(*where, exponents, 0) : exponents;
    negative = counted.size() > 0 && min(counted).item().as_int64() < 0;
  }
  if (negative) throw ValueError("Integers to negative integer powers are not allowed.");
}

}  // namespace ops

ElementwiseFunction::ElementwiseFunction(const char* name) {
  const int index = ops::find_elementwise(name);
  if (index < 0) throw ValueError(std::string("there is no elementwise function named ") + name);
  row_ = &ops::elementwise_table()[static_cast<size_t>(index)];
}

const char* ElementwiseFunction::name() const { return row_->name; }
int ElementwiseFunction::nin() const { return ops::input_count(*row_); }
int ElementwiseFunction::nout() const { return ops::output_count(*row_); }
const char* ElementwiseFunction::documentation() const { return row_->documentation; }

namespace {

using ops::VariantRules;

/// The loop that the rules select, or none without rules.
VariantRules variant_rules(const ElementwiseFunction::Row& row, std::span<const Argument> inputs,
                           const CallRules& rules) {
  VariantRules result{{}, rules.casting, rules.where != nullptr};
  if (rules.dtype || !rules.signature.empty()) result.forced = ops::forced_loop(row, inputs, rules);
  return result;
}

}  // namespace

std::vector<Array> ElementwiseFunction::call(std::span<const Argument> arguments, const CallRules& rules) const {
  std::vector<Array> outputs = run(arguments, rules);
  if (outputs.empty())
    for (const Argument& output : arguments.subspan(static_cast<size_t>(nin()))) outputs.push_back(output.array());
  if (ops::current_listener) ops::current_listener->called(*this, arguments.first(static_cast<size_t>(nin())), outputs);
  return outputs;
}

void ElementwiseFunction::fill(std::span<const Argument> arguments, const CallRules& rules) const {
  run(arguments, rules);
}

std::vector<Array> ElementwiseFunction::run(std::span<const Argument> arguments, const CallRules& rules) const {
  using namespace ops;
  const size_t inputs = static_cast<size_t>(nin()), all = inputs + static_cast<size_t>(nout());
  if (arguments.size() != inputs && arguments.size() != all)
    throw TypeError(std::string(name()) + "() takes " + std::to_string(inputs) + " inputs and optionally " +
                    std::to_string(all - inputs) + " outputs, but " + std::to_string(arguments.size()) +
                    " arguments were given");
  for (size_t k = inputs; k < arguments.size(); ++k)
    if (!arguments[k].is_array()) throw TypeError(std::string(name()) + "(): return arrays must be of ArrayType");

  if (row_->rule == Rule::compare) {
    for (size_t k : {0, 1}) {
      if (!needs_own_type(arguments[k], arguments[1 - k])) continue;
      std::vector<Argument> list(arguments.begin(), arguments.end());
      list[k] = Argument(list[k].scalar().typed(list[k].scalar().dtype()));
      return run(list, rules);
    }
  }
  const VariantRules needed = variant_rules(*row_, arguments.first(inputs), rules);
  if (row_->rule == Rule::power && !needed.forced) {
    if (const auto cheaper = cheaper_power(arguments)) {
      std::vector<Argument> list(arguments.begin(), arguments.end());
      list.erase(list.begin() + 1);
      return cheaper->run(list, rules);
    }
  }
  const Variant& variant = find_variant(*row_, arguments, needed);
  if (row_->rule == Rule::power && !is_empty(arguments[0]))
    check_exponents(arguments[1], variant.types.loop, rules.where);
  const bool has_outputs = arguments.size() == all;
  if (has_outputs && !rules.where && is_uniform(inputs, arguments)) {
    variant.kernel.fill(arguments);
    return {};
  }
  bool is_simple = !has_outputs && !rules.where && rules.order != MemoryOrder::fortran;
  for (const Argument& argument : arguments)
    is_simple = is_simple && argument.is_array() && (argument.array().ndim() < 2 || argument.array().is_c_contiguous());
  return is_simple ? variant.kernel.call(arguments) : call_general(*row_, variant, arguments, rules);
}

std::vector<Dtype> ElementwiseFunction::types(std::span<const Argument> arguments, const CallRules& rules) const {
  const std::span<const Argument> inputs = arguments.first(static_cast<size_t>(nin()));
  const ops::LoopTypes types =
      ops::loop_types(*row_, inputs, variant_rules(*row_, inputs, rules).forced, rules.casting);
  ops::check_outputs_cast(*row_, types, arguments.subspan(inputs.size()), rules.casting);
  return {types.types.begin(), types.types.begin() + nin() + nout()};
}

std::vector<std::string> ElementwiseFunction::loops() const {
  std::vector<std::string> result;
  for (const char* loop = row_->loops; *loop; ++loop) {
    std::string text;
    for (const char character : std::string_view(row_->signature)) {
      const bool is_fixed = character != 'T' && character != 'R';
      const Dtype dtype = ops::resolved_dtype(character, ops::dtype_of_character(*loop));
      text += is_fixed ? character : ops::character_of_dtype(dtype);
    }
    result.push_back(text);
  }
  return result;
}

std::vector<std::string> elementwise_names() {
  std::vector<std::string> names;
  for (const auto& row : ops::elementwise_table()) names.emplace_back(row.name);
  for (const auto& alias : ops::elementwise_aliases()) names.emplace_back(alias.alias);
  return names;
}

}  // namespace iruka
