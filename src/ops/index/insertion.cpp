// Insertion and deletion of elements and slices, and trimming of zeros.
#include <algorithm>
#include <cstdlib>

#include "core/slices.h"
#include "iruka/device.h"
#include "iruka/indexing.h"
#include "iruka/rearranging.h"
#include "iruka/sorting.h"
#include "ops/checks.h"
#include "ops/functions.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

/// The array and one of its axes; the flattened array without an axis.
struct Along {
  Along(const char* function, const Array& given, std::optional<int64_t> named)
      : x(named ? given : given.ravel()), axis(normalize_axis(function, named.value_or(0), x.ndim())) {}
  int64_t extent() const { return x.shape(axis); }

  const Array x;
  const int axis;
};

/// Places counted from the front. Raises IndexError for one at or beyond `limit`.
int64_t counted(int64_t place, int64_t extent, int64_t limit) {
  if (place < -extent || place >= limit)
    throw IndexError("index " + std::to_string(place) + " is out of bounds for axis of size " + std::to_string(extent));
  return place < 0 ? place + extent : place;
}

/// Raises ValueError for a mask that does not fit; delete_elements needs one as long as the axis.
void check_mask(const char* function, const Array& mask, int64_t extent, int64_t limit) {
  if (mask.ndim() != 1 || (limit == extent && mask.size() != extent))
    throw ValueError(std::string(function) + ": a boolean obj must have the shape " + to_string(Dims{extent}) +
                     ", not " + to_string(mask.shape()));
}

/// The places that an array of integers or bools names.
std::vector<int64_t> places_of(const char* function, const Array& given, int64_t extent, int64_t limit) {
  if (given.dtype() == Dtype::bool_) {
    check_mask(function, given, extent, limit);
    const std::vector<int64_t> places = flatnonzero(given).to_vector<int64_t>();
    for (const int64_t place : places) counted(place, extent, limit);
    return places;
  }
  if (!is_integer(given.dtype())) {
    const std::string message =
        std::string(function) + ": obj must be integers or booleans, not " + name(given.dtype());
    if (limit > extent && given.size() == 1) throw TypeError(message);
    throw IndexError(message);
  }
  std::vector<int64_t> places = given.astype(Dtype::int64, false).to_vector<int64_t>();
  for (int64_t& place : places) place = counted(place, extent, limit);
  return places;
}

std::vector<int64_t> places_of(const Slice& slice, int64_t extent) {
  const ClippedSlice clipped = clip_slice(slice, extent);
  std::vector<int64_t> places(static_cast<size_t>(clipped.length));
  for (size_t k = 0; k < places.size(); ++k) places[k] = clipped.start + static_cast<int64_t>(k) * clipped.step;
  return places;
}

/// An index of one axis, on the array's device.
std::vector<AnyIndex> index_of(const Along& along, const Array& places) {
  std::vector<AnyIndex> index(static_cast<size_t>(along.axis), Slice{});
  index.emplace_back(places.to_device(along.x.device()));
  return index;
}

Array host_array(const std::vector<int64_t>& places) {
  Array host = Array::empty({static_cast<int64_t>(places.size())}, Dtype::int64, cpu());
  std::ranges::copy(places, static_cast<int64_t*>(host.data()));
  return host;
}

struct Run {
  int64_t begin, end;
};

/// The runs of those numbers of 0, 1, ..., count - 1 that are not among the places.
std::vector<Run> other_runs(std::vector<int64_t> places, int64_t count) {
  std::ranges::sort(places);
  places.push_back(count);
  std::vector<Run> runs;
  int64_t begin = 0;
  for (const int64_t place : places) {
    if (place > begin) runs.push_back({begin, place});
    begin = place + 1;
  }
  return runs;
}

/// Runs beside up to this many places are copied one by one, beside more by a mask of all.
constexpr size_t kFewPlaces = 64;

/// Which numbers of 0, 1, ..., count - 1 are not among the places.
Array other_places(const std::vector<int64_t>& places, int64_t count) {
  Array mask = Array::empty({count}, Dtype::bool_, cpu());
  auto* const flags = static_cast<bool*>(mask.data());
  std::fill_n(flags, count, true);
  for (const int64_t place : places) flags[place] = false;
  return mask;
}

/// Joins the non-empty parts before and after a place, or around a range, with `middle` between them.
Array joined(const Along& along, int64_t end, const Array* middle, int64_t begin) {
  std::vector<Array> parts;
  if (end > 0) parts.push_back(cut(along.x, along.axis, 0, end));
  if (middle) parts.push_back(*middle);
  if (begin < along.extent()) parts.push_back(cut(along.x, along.axis, begin, along.extent()));
  return parts.empty() ? cut(along.x, along.axis, 0, 0).copy() : concatenate(parts, along.axis);
}

/// The values in x's dtype and on its device, with as many axes.
Array fitting_values(const Along& along, const Array& values) {
  check_device("insert: values", values, along.x.device());
  return with_axes_in_front(values.astype(along.x.dtype(), false), along.x.ndim());
}

Dims with_extent(const Along& along, int64_t extent) {
  Dims shape = along.x.shape();
  shape[along.axis] = extent;
  return shape;
}

/// Inserts any number of slices at one place.
Array insert_at(const Along& along, int64_t place, const Array& values) {
  const Array slices = values.broadcast_to(with_extent(along, values.shape(along.axis)));
  return joined(along, place, &slices, place);
}

/// Where the elements that go before `places` are in the result: equal places keep their order.
void move_apart(std::vector<int64_t>& places) {
  if (std::ranges::is_sorted(places)) {
    for (size_t k = 0; k < places.size(); ++k) places[k] += static_cast<int64_t>(k);
    return;
  }
  const std::vector<int64_t> order = argsort(host_array(places)).to_vector<int64_t>();
  for (size_t k = 0; k < order.size(); ++k) places[static_cast<size_t>(order[k])] += static_cast<int64_t>(k);
}

Array insert_many(const Along& along, std::vector<int64_t> places, const Array& values) {
  move_apart(places);
  const int64_t extent = along.extent() + static_cast<int64_t>(places.size());
  const Array result = Array::empty(with_extent(along, extent), along.x.dtype(), along.x.device());
  assign_index(result, index_of(along, host_array(places)), values);
  if (places.size() > kFewPlaces) {
    assign_index(result, index_of(along, other_places(places, extent)), along.x);
    return result;
  }
  int64_t begin = 0;
  for (const Run& run : other_runs(std::move(places), extent)) {
    const int64_t end = begin + run.end - run.begin;
    cut(result, along.axis, run.begin, run.end).assign(cut(along.x, along.axis, begin, end));
    begin = end;
  }
  return result;
}

Array insert_places(const Along& along, std::vector<int64_t> places, const Array& values) {
  return places.size() == 1 ? insert_at(along, places.front(), values) : insert_many(along, std::move(places), values);
}

/// Cuts the runs around a few places.
Array delete_few(const Along& along, std::vector<int64_t> places) {
  std::vector<Array> parts;
  for (const Run& run : other_runs(std::move(places), along.extent()))
    parts.push_back(cut(along.x, along.axis, run.begin, run.end));
  return parts.empty() ? cut(along.x, along.axis, 0, 0).copy() : concatenate(parts, along.axis);
}

Array keep_where(const Along& along, const Array& keep) { return index(along.x, index_of(along, keep)); }

}  // namespace

Array insert(const Array& x, int64_t place, const Array& values, std::optional<int64_t> axis) {
  const Along along("insert", x, axis);
  const int64_t at = counted(place, along.extent(), along.extent() + 1);
  return insert_at(along, at, with_axis_at(fitting_values(along, values), 0, along.axis));
}

Array insert(const Array& x, const Array& places, const Array& values, std::optional<int64_t> axis) {
  const Along along("insert", x, axis);
  std::vector<int64_t> found = places_of("insert", places, along.extent(), along.extent() + 1);
  if (places.ndim() > 1) throw ValueError("index array argument obj to insert must be one dimensional or scalar");
  if (places.ndim() == 0) return insert(x, found.front(), values, axis);
  return insert_places(along, std::move(found), fitting_values(along, values));
}

Array insert(const Array& x, const Slice& places, const Array& values, std::optional<int64_t> axis) {
  const Along along("insert", x, axis);
  return insert_places(along, places_of(places, along.extent()), fitting_values(along, values));
}

Array delete_elements(const Array& x, int64_t place, std::optional<int64_t> axis) {
  const Along along("delete", x, axis);
  const int64_t at = counted(place, along.extent(), along.extent());
  return joined(along, at, nullptr, at + 1);
}

Array delete_elements(const Array& x, const Array& places, std::optional<int64_t> axis) {
  const Along along("delete", x, axis);
  const int64_t extent = along.extent();
  if (places.dtype() == Dtype::bool_) {
    check_mask("delete", places, extent, extent);
    return keep_where(along, logical_not(places));
  }
  std::vector<int64_t> found = places_of("delete", places, extent, extent);
  if (found.size() <= kFewPlaces) return delete_few(along, std::move(found));
  return keep_where(along, other_places(found, extent));
}

Array delete_elements(const Array& x, const Slice& places, std::optional<int64_t> axis) {
  const Along along("delete", x, axis);
  const ClippedSlice clipped = clip_slice(places, along.extent());
  const int64_t last = clipped.start + (clipped.length - 1) * clipped.step;
  if (clipped.length == 0) return along.x.copy();
  if (std::abs(clipped.step) == 1)
    return joined(along, std::min(clipped.start, last), nullptr, std::max(clipped.start, last) + 1);
  Array keep = Array::empty({along.extent()}, Dtype::bool_, x.device());
  keep.fill(true);
  keep.at(places).fill(false);
  return keep_where(along, keep);
}

Array trim_zeros(const Array& x, bool front, bool back, const std::optional<Dims>& axes) {
  const Array nonzero = not_equal(x, 0);
  Array view = x;
  for (const int64_t named : axes_or_all("trim_zeros", axes, x.ndim())) {
    const int axis = static_cast<int>(named);
    Dims others;
    for (int other = 0; other < x.ndim(); ++other)
      if (other != axis) others.push_back(other);
    const Array found = others.empty() ? nonzero : any(nonzero, others);
    const int64_t extent = x.shape(axis);
    if (extent == 0 || !any(found).item().as_bool()) {
      view = cut(view, axis, 0, 0);
      continue;
    }
    const int64_t first = front ? argmax(found).item().as_int64() : 0;
    const int64_t last = back ? extent - argmax(reversed(found, 0)).item().as_int64() : extent;
    view = cut(view, axis, first, last);
  }
  return view;
}

}  // namespace iruka
