// Elements at places that other tensors give.
#include "iruka/indexing.h"

#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "nn/operators/indices.h"
#include "nn/operators/operator.h"
#include "ops/functions.h"
#include "ops/views.h"

namespace iruka::nn {

std::vector<AnyIndex> indices_along(const Array& indices, int axis) {
  std::vector<AnyIndex> all;
  for (int other = 0; other < indices.ndim(); ++other) {
    if (other == axis) {
      all.emplace_back(indices);
    } else {
      all.emplace_back(arange(0, indices.shape(other), 1).reshape(ops::along_axis(indices.ndim(), other, -1)));
    }
  }
  return all;
}

std::vector<AnyIndex> indices_of_places(const Call& call, const Array& x, const Array& places, int batch) {
  const int last = places.ndim() - 1;
  if (batch < 0 || last < batch || batch + places.shape(last) > x.ndim()) {
    call.fail("indices of shape " + to_string(places.shape()) + " do not fit an input of shape " +
              to_string(x.shape()));
  }
  std::vector<AnyIndex> all;
  all.reserve(static_cast<size_t>(x.ndim()));
  for (int axis = 0; axis < batch; ++axis) {
    all.emplace_back(arange(0, x.shape(axis), 1).reshape(ops::along_axis(last, axis, -1)));
  }
  for (int64_t k = 0; k < places.shape(last); ++k) all.emplace_back(ops::slice_at(places, last, k));
  return all;
}

namespace {

Results gather(const Call& call) {
  const Array& x = call[0];
  return {take(x, call[1], call.axis(call.integer("axis", 0), x.ndim()))};
}

Results gather_elements(const Call& call) {
  const Array& x = call[0];
  const Array& indices = call[1];
  const int axis = call.axis(call.integer("axis", 0), x.ndim());
  return {index(x, indices_along(indices, axis))};
}

Results gather_nd(const Call& call) {
  const Array &x = call[0], &places = call[1];
  const int64_t given = call.integer("batch_dims", 0);
  if (given < 0 || given >= std::max(x.ndim(), 1)) call.fail("batch_dims is " + std::to_string(given));
  const auto batch = static_cast<int>(given);
  const std::vector<AnyIndex> indices = indices_of_places(call, x, places, batch);
  return {indices.empty() ? x : index(x, indices)};
}

Results one_hot(const Call& call) {
  const Array& places = call[0];
  const int64_t depth = call.number_of(1).as_int64();
  if (call[2].size() != 2) call.fail("the values must be two, but have shape " + to_string(call[2].shape()));
  const int ndim = places.ndim() + 1, axis = call.axis(call.integer("axis", -1), ndim);
  const Array whole = places.astype(Dtype::int64, false).expand_dims(axis);
  const Array positive = add(whole, where(less(whole, 0), depth, 0));
  const Array is_there = equal(positive, arange(0, depth, 1).reshape(ops::along_axis(ndim, axis, -1)));
  const Array off = ops::slice_at(call[2], 0, 0), on = ops::slice_at(call[2], 0, 1);
  return {where(is_there, on, off)};
}

Results non_zero(const Call& call) { return {nonzero(call[0])}; }

Results compress(const Call& call) {
  const Array &x = call[0], places = flatnonzero(call[1]);
  if (!call.attribute("axis")) return {take(x.ravel(), places, 0)};
  return {take(x, places, call.axis(call.integer("axis", 0), x.ndim()))};
}

constexpr Operator kRows[] = {
    {"Compress", compress},  {"Gather", gather},    {"GatherElements", gather_elements},
    {"GatherND", gather_nd}, {"NonZero", non_zero}, {"OneHot", one_hot, 0b10},
};

}  // namespace

std::span<const Operator> indexing_operators() { return kRows; }

}  // namespace iruka::nn
