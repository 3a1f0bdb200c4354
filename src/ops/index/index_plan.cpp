#include "ops/index/index_plan.h"

#include <algorithm>

#include "core/device.h"

namespace iruka::ops {
namespace {

constexpr const char* kMismatch = "shape mismatch: indexing arrays could not be broadcast together with shapes ";

/// "(2,3)", as in NumPy's message.
std::string numpy_shape(const Dims& shape) {
  std::string text = to_string(shape);
  std::erase(text, ' ');
  return text;
}

bool is_mask(const Array& x) { return x.dtype() == Dtype::bool_; }

/// An index array, the entry of x's view that it takes, and whether it takes one (a 0-d mask does not).
struct ArrayEntry {
  Array positions;
  int source_axis;  ///< of x, for messages; -1 for none
  int view_axis;    ///< of the view that the basic entries make; -1 for none
};

/// An index taken apart: basic entries make a view of x, arrays index axes of that view.
class Parts {
 public:
  Parts(const Array& x, std::span<const AnyIndex> indices) : x_(x) {
    count_axes(indices);
    for (const AnyIndex& entry : indices) add(entry);
    keep(x.ndim() - axis_);
    view_ = x.index(basic_);
  }

  IndexPlan plan() {
    std::vector<const Dims*> shapes;
    shapes.reserve(arrays_.size());
    for (const ArrayEntry& entry : arrays_) shapes.push_back(&entry.positions.shape());
    const Dims common = broadcast_positions(shapes);
    const int place = is_apart_ ? 0 : before_;
    Dims shape, strides;
    const auto add_common = [&] {
      for (int64_t extent : common) shape.push_back(extent), strides.push_back(0);
    };
    for (int axis = 0, kept = 0; axis <= view_.ndim(); ++axis) {
      const bool is_indexed = axis < view_.ndim() && indexes(axis);
      if (kept == place && !is_indexed && shape.size() == kept) add_common();
      if (axis == view_.ndim() || is_indexed) continue;
      shape.push_back(view_.shape(axis));
      strides.push_back(view_.strides()[axis]);
      ++kept;
    }
    if (shape.size() > kMaxRank)
      throw IndexError("number of dimensions must be within [0, " + std::to_string(kMaxRank) +
                       "], indexing result would have " + std::to_string(shape.size()));
    // As NumPy does, no index is checked if the indices broadcast to no elements.
    const IndexMode mode = count(common) == 0 ? IndexMode::clip : IndexMode::raise;
    IndexPlan plan{strided_view(view_, shape, strides, view_.offset()), {}, mode, is_distinct_};
    for (const ArrayEntry& entry : arrays_) {
      if (entry.view_axis < 0) continue;
      plan.operands.push_back({entry.positions, spread(entry.positions, shape, common, place),
                               view_.shape(entry.view_axis), view_.strides()[entry.view_axis], entry.source_axis});
    }
    return plan;
  }

 private:
  void count_axes(std::span<const AnyIndex> indices) {
    int consumed = 0, ellipses = 0;
    for (const AnyIndex& entry : indices) {
      consumed += std::holds_alternative<int64_t>(entry) || std::holds_alternative<Slice>(entry);
      ellipses += std::holds_alternative<Ellipsis>(entry);
      if (const Array* array = std::get_if<Array>(&entry)) {
        consumed += is_mask(*array) ? array->ndim() : 1;
        // A single mask chooses each element once.
        is_distinct_ = arrays_seen_++ == 0 && is_mask(*array);
      }
    }
    if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
    if (consumed > x_.ndim())
      throw IndexError("too many indices for array: array is " + std::to_string(x_.ndim()) + "-dimensional, but " +
                       std::to_string(consumed) + " were indexed");
    omitted_ = x_.ndim() - consumed;
  }

  void keep(int axes) {
    for (int k = 0; k < axes; ++k) basic_.emplace_back(Slice{});
    axis_ += axes;
    view_axis_ += axes;
  }

  /// NumPy's rule: the dimensions of adjacent index arrays stay in their place, otherwise they come first.
  void meet_array() {
    if (state_ == State::before) before_ = view_axis_ - indexed_count_;
    if (state_ == State::after) is_apart_ = true;
    state_ = state_ == State::before ? State::inside : state_;
  }
  void meet_other() {
    if (state_ == State::inside) state_ = State::after;
  }

  void add_positions(const Array& positions) {
    arrays_.push_back({positions, axis_, view_axis_});
    indexed_ |= uint64_t{1} << view_axis_;
    ++indexed_count_;
    keep(1);
  }

  void add_mask(const Array& mask) {
    if (mask.ndim() > 0 || !mask.device().target().is_host) check_device("a mask", mask, x_.device());
    if (mask.ndim() == 0) {
      const bool chosen = mask.item().as_bool();
      arrays_.push_back({Array::empty({chosen ? 1 : 0}, Dtype::int64, x_.device()), -1, -1});
      return;
    }
    for (int k = 0; k < mask.ndim(); ++k)
      if (mask.shape(k) != 0 && mask.shape(k) != x_.shape(axis_ + k))  // as in NumPy, a mask's axis may be empty
        throw IndexError("boolean index did not match indexed array along axis " + std::to_string(axis_ + k) +
                         "; size of axis is " + std::to_string(x_.shape(axis_ + k)) +
                         " but size of corresponding boolean axis is " + std::to_string(mask.shape(k)));
    const Array found = nonzero(mask);
    for (int k = 0; k < mask.ndim(); ++k) add_positions(found.at(k));
  }

  void add(const AnyIndex& entry) {
    if (const Array* array = std::get_if<Array>(&entry)) {
      meet_array();
      is_mask(*array) ? add_mask(*array) : add_positions(as_positions(*array, x_.device()));
    } else if (const int64_t* position = std::get_if<int64_t>(&entry)) {
      meet_array();  // together with arrays, an integer is an array without axes
      const int64_t extent = x_.shape(axis_);
      if (*position < -extent || *position >= extent) raise_out_of_bounds(*position, axis_, extent);
      basic_.emplace_back(*position);
      ++axis_;
    } else if (const Slice* slice = std::get_if<Slice>(&entry)) {
      meet_other();
      basic_.emplace_back(*slice);
      ++axis_, ++view_axis_;
    } else if (std::holds_alternative<NewAxis>(entry)) {
      meet_other();
      basic_.emplace_back(NewAxis{});
      ++view_axis_;
    } else {
      meet_other();
      keep(omitted_);
    }
  }

  bool indexes(int view_axis) const { return indexed_ >> view_axis & 1; }

  static Dims broadcast_positions(const std::vector<const Dims*>& shapes) {
    try {
      return broadcast_shapes(shapes);
    } catch (const ShapeError&) {
      std::string list;
      for (const Dims* shape : shapes)
        if (!shape->empty()) list += numpy_shape(*shape) + " ";  // one without axes is an integer to NumPy
      throw IndexError(std::string(kMismatch) + list);
    }
  }

  /// Positions in the result's shape, where the common axes begin at `place`.
  static Array spread(const Array& positions, const Dims& shape, const Dims& common, int place) {
    const Array wide = positions.broadcast_to(common);
    Dims strides(shape.size());
    for (int k = 0; k < common.size(); ++k) strides[place + k] = wide.strides()[k];
    return strided_view(wide, shape, strides, wide.offset());
  }

  enum class State : uint8_t { before, inside, after };

  const Array& x_;
  Array view_;
  std::vector<Index> basic_;
  std::vector<ArrayEntry> arrays_;
  State state_ = State::before;
  bool is_apart_ = false, is_distinct_ = false;
  int arrays_seen_ = 0;
  int omitted_ = 0, axis_ = 0, view_axis_ = 0, before_ = 0, indexed_count_ = 0;
  uint64_t indexed_ = 0;
};

}  // namespace

Array strided_view(const Array& x, Dims shape, Dims strides, int64_t offset) {
  return x.view(x.dtype(), std::move(shape), std::move(strides), offset);
}

Array drop_leading_axes(const Array& values, int ndim) {
  Array rest = values;
  while (rest.ndim() > ndim && rest.shape(0) == 1) rest = rest.squeeze(0);
  return rest;
}

Array as_positions(const Array& indices, const Device& device) {
  if (!is_integer(indices.dtype())) throw IndexError("arrays used as indices must be of integer (or boolean) type");
  check_device("an index", indices, device);
  return indices.dtype() == Dtype::int32 ? indices : indices.astype(Dtype::int64, false);
}

void raise_out_of_bounds(int64_t index, int64_t axis, int64_t extent) {
  throw IndexError("index " + std::to_string(index) + " is out of bounds for axis " + std::to_string(axis) +
                   " with size " + std::to_string(extent));
}

IndexPlan plan_index(const Array& x, std::span<const AnyIndex> indices) { return Parts(x, indices).plan(); }

IndexPlan plan_take(const Array& x, const Array& indices, int axis, IndexMode mode) {
  std::vector<AnyIndex> entries(static_cast<size_t>(axis), Slice{});
  entries.emplace_back(indices);
  IndexPlan plan = plan_index(x, entries);
  plan.mode = mode;
  return plan;
}

IndexPlan plan_along_axis(const char* function, const Array& x, const Array& indices, int64_t named) {
  if (!is_integer(indices.dtype())) throw IndexError("`indices` must be an integer array");
  if (indices.ndim() != x.ndim()) throw ValueError("`indices` and `arr` must have the same number of dimensions");
  const int axis = normalize_axis(function, named, x.ndim());
  Dims shape = x.shape(), strides = x.strides();
  shape[axis] = 1;  // takes the extent of the indices
  const Dims both[] = {shape, indices.shape()};
  const Dims* shapes[] = {&both[0], &both[1]};
  Dims common;
  try {
    common = broadcast_shapes(shapes);
  } catch (const ShapeError&) {
    throw IndexError(kMismatch + numpy_shape(shape) + " " + numpy_shape(indices.shape()) + " ");
  }
  for (int k = 0; k < x.ndim(); ++k)
    if (shape[k] == 1) strides[k] = 0;
  const Array own = as_positions(indices, x.device());
  return {strided_view(x, common, strides, x.offset()),
          {{own, own.broadcast_to(common), x.shape(axis), x.strides()[axis], axis}},
          IndexMode::raise};
}

}  // namespace iruka::ops
