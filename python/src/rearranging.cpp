// Arrays turned, rolled, repeated, split, joined, and with elements put in or taken out.
#include "iruka/rearranging.h"

#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "composed.h"
#include "interop.h"

namespace iruka::python {

namespace {

Slice slice_of(nb::handle object) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(object.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
  return {start, stop, step};
}

/// What `function` gives for an int, a slice or an array.
template <class Function>
nb::object with_places(nb::handle places, Function function) {
  if (PyLong_Check(places.ptr())) {
    const Py_ssize_t place = PyNumber_AsSsize_t(places.ptr(), PyExc_IndexError);
    if (place == -1 && PyErr_Occurred()) throw nb::python_error();
    return make_array([&] { return function(place); });
  }
  if (PySlice_Check(places.ptr())) {
    const Slice slice = slice_of(places);
    return make_array([&] { return function(slice); });
  }
  const Array given = checked_array(places, "obj");
  return make_array([&] { return function(given); });
}

/// Places along an axis; like those of a slice, they may be beyond 64 bits.
std::vector<int64_t> places_of(nb::handle given) {
  std::vector<int64_t> places;
  for (nb::handle each : nb::iter(given)) {
    places.push_back(PyNumber_AsSsize_t(each.ptr(), nullptr));
    if (places.back() == -1 && PyErr_Occurred()) throw nb::python_error();
  }
  return places;
}

/// A function that divides an array into a number of sections, or at places.
using SplitIntoSections = std::vector<Array> (*)(const Array&, int64_t);
using SplitAtPlaces = std::vector<Array> (*)(const Array&, std::span<const int64_t>);

void bind_split(nb::module_& module, const char* name, SplitIntoSections into_sections, SplitAtPlaces at_places) {
  module.def(name, [=](const Array& x, nb::handle parts) {
    if (PyLong_Check(parts.ptr())) return to_list(into_sections(x, to_int64(parts, "sections")));
    return to_list(at_places(x, places_of(parts)));
  });
}

using Joined = Array (*)(std::span<const Array>);

void bind_join(nb::module_& module, const char* name, Joined join) {
  module.def(name, [=](const std::vector<Array>& arrays) { return make_mutable_array([&] { return join(arrays); }); });
}

/// Nested lists of arrays. `place` is what messages call them.
Blocks blocks_of(nb::handle given, const std::string& place) {
  if (PyTuple_Check(given.ptr())) throw TypeError("block: " + place + " is a tuple; only lists hold blocks");
  if (!PyList_Check(given.ptr())) return is_array(given.ptr()) ? array_of(given.ptr()) : as_array(given);
  std::vector<Blocks> blocks;
  for (nb::handle part : given) blocks.push_back(blocks_of(part, place + "[" + std::to_string(blocks.size()) + "]"));
  return blocks;
}

void bind_views(nb::module_& module) {
  module.def("moveaxis", [](const Array& x, nb::handle source, nb::handle destination) {
    return to_python(moveaxis(x, to_dims(source, "moveaxis: source"), to_dims(destination, "moveaxis: destination")));
  });
  module.def("rollaxis", [](const Array& x, int64_t axis, int64_t start) { return rollaxis(x, axis, start); });
  module.def("matrix_transpose", [](const Array& x) { return matrix_transpose(x); });
  module.def("atleast_1d", [](const Array& x) { return atleast_1d(x); });
  module.def("atleast_2d", [](const Array& x) { return atleast_2d(x); });
  module.def("atleast_3d", [](const Array& x) { return atleast_3d(x); });
  module.def("broadcast_arrays", [](const std::vector<Array>& arrays) { return to_tuple(broadcast_arrays(arrays)); });
  module.def(
      "flip", [](const Array& x, nb::handle axes) { return flip(x, optional_axes(axes)); }, nb::arg("x"),
      nb::arg("axis").none());
  module.def("fliplr", [](const Array& x) { return fliplr(x); });
  module.def("flipud", [](const Array& x) { return flipud(x); });
  module.def("rot90", [](const Array& x, int64_t times, int64_t first, int64_t second) {
    return rot90(x, times, first, second);
  });
  module.def("array_split", [](const Array& x, nb::handle parts, int64_t axis) {
    if (PyLong_Check(parts.ptr())) return to_list(array_split(x, to_int64(parts, "array_split: sections"), axis));
    return to_list(array_split(x, places_of(parts), axis));
  });
  module.def("split", [](const Array& x, int64_t sections, int64_t axis) { return to_list(split(x, sections, axis)); });
  bind_split(module, "hsplit", hsplit, hsplit);
  bind_split(module, "vsplit", vsplit, vsplit);
  bind_split(module, "dsplit", dsplit, dsplit);
  module.def("unstack", [](const Array& x, int64_t axis) { return to_tuple(unstack(x, axis)); });
}

void bind_copies(nb::module_& module) {
  bind_join(module, "vstack", vstack);
  bind_join(module, "hstack", hstack);
  bind_join(module, "dstack", dstack);
  bind_join(module, "column_stack", column_stack);
  module.def("block", [](nb::handle arrays) {
    const Blocks blocks = blocks_of(arrays, "arrays");
    return make_mutable_array([&] { return block(blocks); });
  });
  module.def(
      "roll",
      [](Array x, nb::handle shifts, nb::handle axes) {
        const Dims by = to_dims(shifts, "roll: shift");
        const std::optional<Dims> along = optional_axes(axes);
        return make_mutable_array([&] { return roll(x, by, along); });
      },
      nb::arg("x"), nb::arg("shifts"), nb::arg("axes").none());
  module.def("tile", [](Array x, nb::handle repetitions) {
    const Dims counts = to_dims(repetitions, "tile: reps");
    return make_mutable_array([&] { return tile(x, counts); });
  });
  module.def("resize", [](Array x, nb::handle shape) {
    const Dims extents = to_dims(shape, "resize: new_shape");
    return make_mutable_array([&] { return resize(x, extents); });
  });
  module.def(
      "append",
      [](Array x, Array values, nb::handle axis) {
        const std::optional<int64_t> along = optional_axis(axis, "append: axis");
        return make_array([&] { return append(x, values, along); });
      },
      nb::arg("x"), nb::arg("values"), nb::arg("axis").none());
  module.def(
      "insert",
      [](Array x, nb::handle places, Array values, nb::handle axis) {
        const std::optional<int64_t> along = optional_axis(axis, "insert: axis");
        return with_places(places, [&](const auto& at) { return insert(x, at, values, along); });
      },
      nb::arg("x"), nb::arg("places"), nb::arg("values"), nb::arg("axis").none());
  module.def(
      "delete",
      [](Array x, nb::handle places, nb::handle axis) {
        const std::optional<int64_t> along = optional_axis(axis, "delete: axis");
        return with_places(places, [&](const auto& at) { return delete_elements(x, at, along); });
      },
      nb::arg("x"), nb::arg("places"), nb::arg("axis").none());
  module.def(
      "trim_zeros",
      [](Array x, bool front, bool back, nb::handle axes) {
        const std::optional<Dims> along = optional_axes(axes);
        return to_python(composed([&] { return trim_zeros(x, front, back, along); }));
      },
      nb::arg("x"), nb::arg("front"), nb::arg("back"), nb::arg("axes").none());
}

}  // namespace

void bind_rearranging(nb::module_& module) {
  bind_views(module);
  bind_copies(module);
}

}  // namespace iruka::python
