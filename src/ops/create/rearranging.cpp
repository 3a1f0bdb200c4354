// Flipping, rotating, rolling, repeating, splitting and joining arrays.
#include "iruka/rearranging.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "ops/checks.h"
#include "ops/create/joining.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

/// Python's remainder, 0 <= result < extent.
int64_t modulo(int64_t value, int64_t extent) {
  const int64_t rest = value % extent;
  return rest < 0 ? rest + extent : rest;
}

void check_least_axes(const char* function, const Array& x, int least) {
  if (x.ndim() >= least) return;
  const char* const axes = least == 1 ? "one axis" : least == 2 ? "two axes" : "3 axes";
  throw ValueError(std::string(function) + ": the array must have at least " + axes +
                   (x.ndim() == 0 && least == 1 ? "" : ", not " + std::to_string(x.ndim())));
}

/// Copies the source into the target, rolled along the axes from `axis` on by `by`.
void roll_into(const Array& target, const Array& source, const Dims& by, int axis) {
  while (axis < by.size() && by[axis] == 0) ++axis;
  if (axis == by.size()) {
    Array(target).assign(source);
    return;
  }
  const int64_t extent = source.shape(axis), moved = by[axis];
  roll_into(cut(target, axis, moved, extent), cut(source, axis, 0, extent - moved), by, axis + 1);
  roll_into(cut(target, axis, 0, moved), cut(source, axis, extent - moved, extent), by, axis + 1);
}

/// Each axis's shift modulo its extent.
Dims total_shifts(const Array& x, const Dims& shifts, const Dims& axes) {
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1)
    throw ValueError("roll: " + std::to_string(shifts.size()) + " shifts but " + std::to_string(axes.size()) + " axes");
  Dims total(x.ndim());
  if (shifts.empty() || axes.empty()) return total;
  for (int k = 0; k < std::max(shifts.size(), axes.size()); ++k) {
    const int axis = static_cast<int>(axes[k % axes.size()]);
    if (const int64_t extent = x.shape(axis))
      total[axis] = modulo(total[axis] + modulo(shifts[k % shifts.size()], extent), extent);
  }
  return total;
}

Array part_of_axis(const Array& x, int axis, const Slice& slice) {
  std::vector<Index> index(static_cast<size_t>(axis), Slice{});
  index.emplace_back(slice);
  return x.index(index);
}

/// split() into sections, or at places, of an array with at least so many axes.
template <class Parts>
std::vector<Array> split_along(const char* function, const Array& x, const Parts& parts, int axis, int least) {
  check_least_axes(function, x, least);
  return split(x, parts, axis);
}

template <class Change>
std::vector<Array> each(std::span<const Array> arrays, Change change) {
  std::vector<Array> changed;
  changed.reserve(arrays.size());
  for (const Array& array : arrays) changed.push_back(change(array));
  return changed;
}

/// How deep the lists lie in one another. Raises ValueError, which names the list by its `place`.
int depth_of(const Blocks& blocks, const std::string& place) {
  if (!blocks.is_list) return 0;
  if (blocks.list.empty()) throw ValueError("block: " + place + " is an empty list");
  std::set<int> depths;
  for (size_t k = 0; k < blocks.list.size(); ++k)
    depths.insert(depth_of(blocks.list[k], place + "[" + std::to_string(k) + "]"));
  if (depths.size() == 1) return 1 + *depths.begin();
  std::string found;
  for (const int depth : depths) found += (found.empty() ? "" : ", ") + std::to_string(depth);
  throw ValueError("block: the lists in " + place + " are of unequal depths [" + found + "]");
}

/// The array of lists that are `depth` deep.
Array joined(const Blocks& blocks, int depth) {
  if (depth == 0) return blocks.array;
  std::vector<Array> parts;
  int ndim = depth;
  for (const Blocks& part : blocks.list) {
    parts.push_back(joined(part, depth - 1));
    ndim = std::max(ndim, parts.back().ndim());
  }
  return concatenate(each(parts, [&](const Array& part) { return with_axes_in_front(part, ndim); }), -depth);
}

}  // namespace

Array moveaxis(const Array& x, const Dims& source, const Dims& destination) {
  if (source.size() == 1 && destination.size() == 1)
    return with_axis_at(x, normalize_axis("moveaxis: source", source[0], x.ndim()),
                        normalize_axis("moveaxis: destination", destination[0], x.ndim()));
  const Dims from = normalize_axes("moveaxis: source", source, x.ndim());
  const Dims to = normalize_axes("moveaxis: destination", destination, x.ndim());
  if (from.size() != to.size())
    throw ValueError("moveaxis: " + std::to_string(from.size()) + " source axes but " + std::to_string(to.size()) +
                     " destinations");
  Dims order(x.ndim(), -1);
  for (int k = 0; k < from.size(); ++k) order[static_cast<int>(to[k])] = from[k];
  int place = 0;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (std::find(from.begin(), from.end(), axis) != from.end()) continue;
    while (order[place] >= 0) ++place;
    order[place] = axis;
  }
  return x.transpose(order);
}

Array rollaxis(const Array& x, int64_t axis, int64_t start) {
  const int from = normalize_axis("rollaxis", axis, x.ndim());
  if (start < -x.ndim() || start > x.ndim()) throw AxisError("rollaxis: start", start, x.ndim());
  const int64_t to = start < 0 ? start + x.ndim() : start;
  return with_axis_at(x, from, static_cast<int>(from < to ? to - 1 : to));
}

Array matrix_transpose(const Array& x) {
  check_least_axes("matrix_transpose", x, 2);
  return x.swapaxes(-1, -2);
}

Array atleast_1d(const Array& x) { return with_axes_in_front(x, 1); }
Array atleast_2d(const Array& x) { return with_axes_in_front(x, 2); }
Array atleast_3d(const Array& x) {
  if (x.ndim() >= 3) return x;
  return x.ndim() == 2 ? x.reshape({x.shape(0), x.shape(1), 1}) : x.reshape({1, x.size(), 1});
}

std::vector<Array> broadcast_arrays(std::span<const Array> arrays) {
  std::vector<const Dims*> shapes;
  for (const Array& array : arrays) shapes.push_back(&array.shape());
  const Dims shape = broadcast_shapes(shapes);
  if (std::ranges::all_of(arrays, [&](const Array& array) { return array.shape() == shape; }))
    return {arrays.begin(), arrays.end()};
  return each(arrays, [&](const Array& array) { return array.broadcast_to(shape).read_only(); });
}

Array flip(const Array& x, const std::optional<Dims>& axes) {
  Array view = x;
  for (const int64_t axis : axes_or_all("flip", axes, x.ndim())) view = reversed(view, static_cast<int>(axis));
  return view;
}

Array fliplr(const Array& x) {
  check_least_axes("fliplr", x, 2);
  return reversed(x, 1);
}

Array flipud(const Array& x) {
  check_least_axes("flipud", x, 1);
  return reversed(x, 0);
}

Array rot90(const Array& x, int64_t times, int64_t first, int64_t second) {
  const Dims axes = normalize_axes("rot90", {first, second}, x.ndim());
  const int to = static_cast<int>(axes[1]);
  switch (modulo(times, 4)) {
    case 0: return x;
    case 1: return reversed(x, to).swapaxes(axes[0], to);
    case 2: return flip(x, axes);
    default: return reversed(x.swapaxes(axes[0], to), to);
  }
}

Array roll(const Array& x, const Dims& shifts, const std::optional<Dims>& axes) {
  if (!axes) return roll(x.ravel(), shifts, Dims{0}).reshape(x.shape());
  Dims along(axes->size());
  for (int k = 0; k < along.size(); ++k) along[k] = normalize_axis("roll", (*axes)[k], x.ndim());
  const Dims by = total_shifts(x, shifts, along);
  Array result = Array::empty(x.shape(), x.dtype(), x.device());
  roll_into(result, x, by, 0);
  return result;
}

Array tile(const Array& x, const Dims& repetitions) {
  if (std::ranges::any_of(repetitions, [](int64_t count) { return count < 0; }))
    throw ValueError("tile: repetitions must not be negative, but are " + to_string(repetitions));
  const int ndim = std::max(x.ndim(), repetitions.size());
  Dims apart, laid, joined;
  for (int axis = 0; axis < ndim; ++axis) {
    const int own = axis - (ndim - x.ndim()), given = axis - (ndim - repetitions.size());
    const int64_t extent = own >= 0 ? x.shape(own) : 1, count = given >= 0 ? repetitions[given] : 1;
    if (count != 1) apart.push_back(1), laid.push_back(count);
    apart.push_back(extent), laid.push_back(extent);
    joined.push_back(count * extent);
  }
  return x.reshape(apart).broadcast_to(laid).copy().reshape(joined);
}

Array resize(const Array& x, const Dims& shape) {
  if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; }))
    throw ValueError("resize: extents must not be negative, but the shape is " + to_string(shape));
  const int64_t size = count(shape);
  const Array flat = x.ravel();
  Array result = Array::empty({size}, x.dtype(), x.device());
  const int64_t whole = flat.size() > 0 ? size / flat.size() : 0, copied = whole * flat.size();
  if (flat.size() == 0) result.fill(0);
  if (whole > 0) cut(result, 0, 0, copied).reshape({whole, flat.size()}).assign(flat);
  if (flat.size() > 0 && copied < size) cut(result, 0, copied, size).assign(cut(flat, 0, 0, size - copied));
  return result.reshape(shape);
}

std::vector<Array> array_split(const Array& x, std::span<const int64_t> places, int64_t named) {
  const int axis = normalize_axis("array_split", named, x.ndim());
  std::vector<Array> parts;
  int64_t begin = 0;
  for (const int64_t end : places) {
    parts.push_back(part_of_axis(x, axis, {begin, end, {}}));
    begin = end;
  }
  parts.push_back(part_of_axis(x, axis, {begin, x.shape(axis), {}}));
  return parts;
}

std::vector<Array> array_split(const Array& x, int64_t sections, int64_t named) {
  const int axis = normalize_axis("array_split", named, x.ndim());
  if (sections <= 0)
    throw ValueError("array_split: the number of sections must be larger than 0, but is " + std::to_string(sections));
  const int64_t extent = x.shape(axis), each = extent / sections, extra = extent % sections;
  std::vector<Array> parts;
  int64_t begin = 0;
  for (int64_t k = 0; k < sections; ++k) {
    const int64_t end = begin + each + (k < extra);
    parts.push_back(cut(x, axis, begin, end));
    begin = end;
  }
  return parts;
}

std::vector<Array> split(const Array& x, int64_t sections, int64_t axis) {
  const int64_t extent = x.shape(normalize_axis("split", axis, x.ndim()));
  if (sections > 0 && extent % sections != 0)
    throw ValueError("split: an axis of " + std::to_string(extent) + " does not divide into " +
                     std::to_string(sections) + " equal parts");
  return array_split(x, sections, axis);
}

std::vector<Array> split(const Array& x, std::span<const int64_t> places, int64_t axis) {
  return array_split(x, places, axis);
}

std::vector<Array> hsplit(const Array& x, int64_t sections) {
  return split_along("hsplit", x, sections, x.ndim() > 1 ? 1 : 0, 1);
}
std::vector<Array> hsplit(const Array& x, std::span<const int64_t> places) {
  return split_along("hsplit", x, places, x.ndim() > 1 ? 1 : 0, 1);
}
std::vector<Array> vsplit(const Array& x, int64_t sections) { return split_along("vsplit", x, sections, 0, 2); }
std::vector<Array> vsplit(const Array& x, std::span<const int64_t> places) {
  return split_along("vsplit", x, places, 0, 2);
}
std::vector<Array> dsplit(const Array& x, int64_t sections) { return split_along("dsplit", x, sections, 2, 3); }
std::vector<Array> dsplit(const Array& x, std::span<const int64_t> places) {
  return split_along("dsplit", x, places, 2, 3);
}

std::vector<Array> unstack(const Array& x, int64_t named) {
  check_least_axes("unstack", x, 1);
  const int axis = normalize_axis("unstack", named, x.ndim());
  std::vector<Array> slices;
  slices.reserve(static_cast<size_t>(x.shape(axis)));
  for (int64_t k = 0; k < x.shape(axis); ++k) slices.push_back(slice_at(x, axis, k));
  return slices;
}

ops::Joint ops::vstack_joint(std::span<const Array> arrays) { return {each(arrays, atleast_2d), 0}; }

ops::Joint ops::hstack_joint(std::span<const Array> arrays) {
  std::vector<Array> parts = each(arrays, atleast_1d);
  const int64_t axis = parts.empty() || parts.front().ndim() == 1 ? 0 : 1;
  return {std::move(parts), axis};
}

Array vstack(std::span<const Array> arrays) {
  const auto [parts, axis] = vstack_joint(arrays);
  return concatenate(parts, axis);
}

Array hstack(std::span<const Array> arrays) {
  const auto [parts, axis] = hstack_joint(arrays);
  return concatenate(parts, axis);
}

Array dstack(std::span<const Array> arrays) { return concatenate(each(arrays, atleast_3d), 2); }

Array column_stack(std::span<const Array> arrays) {
  return concatenate(
      each(arrays, [](const Array& array) { return array.ndim() >= 2 ? array : array.reshape({-1, 1}); }), 1);
}

Array block(const Blocks& blocks) {
  const int depth = depth_of(blocks, "arrays");
  return depth == 0 ? blocks.array.copy() : with_axes_in_front(joined(blocks, depth), depth);
}

Array append(const Array& x, const Array& values, std::optional<int64_t> axis) {
  const Array parts[] = {axis ? x : x.ravel(), axis ? values : values.ravel()};
  return concatenate(parts, axis.value_or(0));
}

}  // namespace iruka
