// Elements written at places that other tensors give.
#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "nn/operators/indices.h"
#include "nn/operators/operator.h"

namespace iruka::nn {
namespace {

/// Null where elements are replaced.
const ElementwiseFunction* combination(const Call& call) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction == "none") return nullptr;
  if (reduction == "add") return &add;
  if (reduction == "mul") return &multiply;
  if (reduction == "max") return &maximum;
  if (reduction == "min") return &minimum;
  call.fail("reduction must be none, add, mul, max or min, not " + reduction);
}

Results scattered(const Call& call, const std::vector<AnyIndex>& indices) {
  const Array result = call[0].copy();
  const Array& values = call[2];
  if (values.size() == 0) return {result};
  const ElementwiseFunction* const combine = combination(call);
  combine ? scatter_at(result, indices, *combine, &values) : assign_index(result, indices, values);
  return {result};
}

Results scatter_elements(const Call& call) {
  return scattered(call, indices_along(call[1], call.axis(call.integer("axis", 0), call[0].ndim())));
}

Results scatter_nd(const Call& call) { return scattered(call, indices_of_places(call, call[0], call[1], 0)); }

constexpr Operator kRows[] = {
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
};

}  // namespace

std::span<const Operator> scattering_operators() { return kRows; }

}  // namespace iruka::nn
