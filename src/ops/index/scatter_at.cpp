// ufunc.at: applies an elementwise function at indices, once for each occurrence of an index.
#include <optional>

#include "ops/elementwise/cast_text.h"
#include "ops/elementwise/loop_types.h"
#include "ops/index/index_kernels.h"
#include "ops/index/index_walk.h"
#include "ops/permanent_cache.h"

namespace iruka {
namespace ops {
namespace {

using Row = ElementwiseFunction::Row;

/// Offsets that the CPU works out at a time: as many as the second cache level holds.
constexpr int64_t kOffsetsAtOnce = 1 << 14;

/// The properties for which a kernel is generated.
struct Form {
  const Row* row;
  Dtype target, values;
  bool is_atomic = false, has_axes = false;
  size_t operands = 0;
  std::optional<Dtype> positions = {};  ///< CPU: of the one array of indices, where there is no other

  auto operator<=>(const Form&) const = default;
};

/// `target` becomes function(target, value): statements around the row's body.
std::string update_text(const Form& form, const LoopTypes& types, const std::string& target) {
  const int inputs = input_count(*form.row);
  std::string text;
  for (int k = 0; k < inputs; ++k) {
    const Dtype own = k == 0 ? form.target : form.values, type = types.types[static_cast<size_t>(k)];
    const std::string value = cast_text(type, computing_dtype(type), cast_text(own, type, k == 0 ? target : "value"));
    text +=
        std::string("const ") + info(computing_dtype(type)).c_type + " in" + std::to_string(k) + " = " + value + ";\n";
  }
  const Dtype result = types.types[static_cast<size_t>(inputs)], computing = computing_dtype(result);
  const std::string stored = cast_text(result, form.target, cast_text(computing, result, "out0"));
  return text + info(computing).c_type + " out0;\n" + form.row->body + "\nresult = " + stored + ";\n";
}

/// The hardware's atomic operation, if it computes the row's function.
std::string atomic_name(const Form& form) {
  if (form.target != form.values || form.target == Dtype::bool_) return "";
  const std::string_view name = form.row->name;
  if (name == "add") return "atomicAdd";
  if (name == "subtract") return "atomicSub";
  if (is_integer(form.target) && name == "maximum") return "atomicMax";
  if (is_integer(form.target) && name == "minimum") return "atomicMin";
  return "";
}

ElementwiseKernel make_kernel(const Form& form, const LoopTypes& types, const IndexTexts& texts) {
  const std::string type = info(form.target).c_type;
  KernelOptions options;
  options.diagnose_early = false;
  options.reduce_dims = false;
  options.options = {"--fmad=false"};
  options.preamble = "using Target = " + type + ";\n" + body_names(*form.row, types.loop);
  const std::string target = name(form.target), values = name(form.values), label = std::string(form.row->name) + "_at";
  const std::string text = update_text(form, types, "old");
  if (!form.is_atomic) {
    // Sequential, in one thread: a sum of floats must not depend on the number of threads.
    const std::string at = form.positions ? name(*form.positions) : "int64";
    // Another thread may have changed an index since the check.
    const std::string place = form.positions ? "ptrdiff_t place = at[k];\nplace += place < 0 ? extent : 0;\n"
                                               "if ((size_t)place >= (size_t)extent) continue;\nplace *= stride;\n"
                                             : "const ptrdiff_t place = at[k];\n";
    return ElementwiseKernel("raw _non_const " + target + " x, raw const " + values + " v, int64 step, raw const " +
                                 at + " places, int64 extent, int64 stride",
                             "",
                             "char* base = (char*)&x[0];\nconst auto* values = &v[0];\n"
                             "const auto* at = &places[0];\nconst ptrdiff_t count = places.size();\n"
                             "for (ptrdiff_t k = 0; k < count; ++k) {\n" +
                                 place +
                                 "Target& result = *(Target*)(base + place);\nconst Target old = result;\n"
                                 "[[maybe_unused]] const auto value = values[k * step];\n" +
                                 text + "}\n",
                             label, options);
  }
  options.preamble += texts.preamble;
  const std::string atomic = atomic_name(form);
  const std::string update = atomic.empty()
                                 ? "iruka::atomic_update((Target*)element, [=](Target old) {\nTarget result;\n" + text +
                                       "return result;\n});\n"
                                 : atomic + "((Target*)element, value);\n";
  return ElementwiseKernel("raw _non_const " + target + " x, " + values + " value" + texts.parameters, "",
                           texts.prepare + update, label, options);
}

const ElementwiseKernel& kernel_for(const Form& form, const LoopTypes& types, const IndexTexts& texts) {
  static constinit PermanentCache<Form, ElementwiseKernel> kernels;
  return kernels.get(form, [&] { return make_kernel(form, types, texts); });
}

/// The common dtype of the values and x; the result is cast to x's dtype by any casting rule, as in NumPy.
LoopTypes types_of(const Row& row, const Array& x, const Array& values) {
  const Argument arguments[] = {x, values};
  return loop_types(row, std::span(arguments).first(static_cast<size_t>(input_count(row))), {});
}

void update_cpu(const IndexPlan& plan, const Array& values, Form form, const LoopTypes& types) {
  check_bounds_cpu(plan);
  const int64_t count = plan.base.size(), block = std::min(count, kOffsetsAtOnce);
  if (count == 0) return;
  const bool is_one = std::ranges::all_of(values.strides(), [](int64_t stride) { return stride == 0; });
  const Array each =
      is_one ? strided_view(values, {1}, {values.itemsize()}, values.offset()) : values.contiguous().reshape({-1});
  const Array x = strided_view(plan.base, {1}, {plan.base.itemsize()}, plan.base.offset());
  CallOptions options;
  options.size = 1;
  const auto typed = [](int64_t value) { return Scalar(value).typed(Dtype::int64); };
  const IndexWalk walk(plan, nullptr, false);
  const IndexOperand* const line = walk.is_line() && plan.operands[0].own.size() == count ? &plan.operands[0] : nullptr;
  if (line) form.positions = line->own.dtype();
  const ElementwiseKernel& kernel = kernel_for(form, types, {});
  if (line) {
    const Array positions = line->own.contiguous().reshape({-1});
    const Argument arguments[] = {x, each, typed(is_one ? 0 : 1), positions, typed(line->extent), typed(line->stride)};
    kernel.fill(arguments, options);
    return;
  }
  const Array offsets = Array::empty({block}, Dtype::int64, plan.base.device());
  for (int64_t begin = 0; begin < count; begin += block) {
    const int64_t end = std::min(count, begin + block);
    if (!walk.offsets(begin, end - begin, static_cast<int64_t*>(offsets.data()))) raise_bad_index(plan);
    const Array part = is_one ? each : each.at(Slice{begin, end, {}}), at = offsets.at(Slice{0, end - begin, {}});
    const Argument arguments[] = {x, part, typed(is_one ? 0 : 1), at, typed(0), typed(0)};
    kernel.fill(arguments, options);
  }
}

void update_cuda(const IndexPlan& plan, const Array& values, Form form, const LoopTypes& types) {
  if (atomic_name(form).empty() && plan.base.itemsize() > 8)
    throw TypeError(std::string(form.row->name) + ".at: a GPU has no atomic operation on " + name(form.target) +
                    " but add and subtract");
  if (plan.base.size() == 0) return scatter_cuda(plan, values);  // checks the indices
  const IndexCall call(plan, values, false);
  form.is_atomic = true;
  form.has_axes = call.has_axes();
  form.operands = plan.operands.size();
  call.run(kernel_for(form, types, index_texts(plan, form.has_axes)), false);
}

struct Updating {
  static constinit const Implementations<const Updating> implementations;
  void (*update)(const IndexPlan& plan, const Array& values, Form form, const LoopTypes& types);
};
constexpr Updating kCpu{update_cpu}, kCuda{update_cuda};
const Implementations<const Updating> Updating::implementations{"at", {&kCpu, &kCuda}};

}  // namespace
}  // namespace ops

void scatter_at(const Array& x, std::span<const AnyIndex> indices, const ElementwiseFunction& function,
                const Array* values) {
  using namespace ops;
  const ElementwiseFunction::Row& row = elementwise_table()[static_cast<size_t>(find_elementwise(function.name()))];
  if (function.nin() > 2) throw ValueError("Only unary and binary ufuncs supported at this time");
  if (function.nout() != 1) throw ValueError("Only single output ufuncs supported at this time");
  if ((values != nullptr) != (function.nin() == 2))
    throw ValueError(values ? "second operand provided when ufunc is unary" : "second operand needed for ufunc");
  if (values) check_device("at: the second operand", *values, x.device());
  const Array second = values ? *values : Array::empty({}, x.dtype(), x.device());
  const LoopTypes types = types_of(row, x, second);
  IndexPlan plan = plan_index(x, indices);
  if (plan.base.size() > 0) x.check_writable("assignment destination");
  const bool is_own_index =
      std::ranges::any_of(plan.operands, [&](const IndexOperand& o) { return o.own.may_overlap(x); });
  if (is_own_index) {  // the indices must not change while x does
    std::vector<AnyIndex> kept(indices.begin(), indices.end());
    for (AnyIndex& entry : kept)
      if (Array* const array = std::get_if<Array>(&entry)) *array = array->copy();
    plan = plan_index(x, kept);
  }
  if (row.rule == Rule::power && plan.base.size() > 0) check_exponents(Argument(second), types.loop);
  Array wide = second.may_overlap(x) ? second.copy() : second;
  try {
    wide = wide.broadcast_to(plan.shape());
  } catch (const ShapeError&) {
    throw ShapeError("array is not broadcastable to correct shape");
  }
  x.device().service<Updating>().update(plan, wide, {&row, x.dtype(), second.dtype()}, types);
}

}  // namespace iruka
