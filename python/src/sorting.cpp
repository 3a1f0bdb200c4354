// Sorting and sets.
#include "iruka/sorting.h"

#include <nanobind/stl/vector.h>

#include <vector>

#include "composed.h"
#include "iruka/sets.h"
#include "ops.h"
#include "truth.h"

namespace iruka::python {

namespace {

std::optional<int64_t> axis_of(nb::handle axis, const char* what) {
  if (axis.is_none()) return {};
  return to_int64(axis, what);
}

nb::object or_none(const Array& array) { return array.valid() ? to_python(array) : nb::none(); }

/// The values alone, or a tuple of them and what else was requested.
nb::object requested(UniqueResult result) {
  std::vector<Array> parts{std::move(result.values)};
  for (Array* part : {&result.index, &result.inverse, &result.counts})
    if (part->valid()) parts.push_back(std::move(*part));
  if (parts.size() == 1) return to_python(std::move(parts.front()));
  return to_tuple(std::move(parts));
}

void bind_functions(nb::module_& module) {
  module.def(
      "sort",
      [](Array x, nb::handle axis, bool stable, bool descending) {
        const std::optional<int64_t> along = axis_of(axis, "sort: axis");
        return make_array([&] { return sort(x, along, {stable, descending}); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("stable"), nb::arg("descending"));
  module.def(
      "argsort",
      [](Array x, nb::handle axis, bool descending) {
        const std::optional<int64_t> along = axis_of(axis, "argsort: axis");
        return make_array([&] { return argsort(x, along, {true, descending}); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("descending"));
  module.def(
      "lexsort",
      [](const std::vector<Array>& keys, int64_t axis) { return make_array([&] { return lexsort(keys, axis); }); },
      nb::arg("keys"), nb::arg("axis"));
  module.def(
      "partition",
      [](Array x, const std::vector<int64_t>& kth, nb::handle axis) {
        const std::optional<int64_t> along = axis_of(axis, "partition: axis");
        return make_array([&] { return partition(x, kth, along); });
      },
      nb::arg("x"), nb::arg("kth"), nb::arg("axis").none());
  module.def(
      "argpartition",
      [](Array x, const std::vector<int64_t>& kth, nb::handle axis) {
        const std::optional<int64_t> along = axis_of(axis, "argpartition: axis");
        return make_array([&] { return argpartition(x, kth, along); });
      },
      nb::arg("x"), nb::arg("kth"), nb::arg("axis").none());
}

void bind_sets(nb::module_& module) {
  module.def(
      "unique",
      [](nb::handle x, Truth index, Truth inverse, Truth counts, nb::handle axis, Truth equal_nan) {
        const Array array = as_operand(x, "unique");
        const std::optional<int64_t> along = axis_of(axis, "unique: axis");
        if (along) normalize_axis("unique", *along, array.ndim());
        const UniqueParts parts{index, inverse, counts};
        // NumPy compares slices as bytes: NaN differs from NaN.
        UniqueResult result = without_gil([&] {
          return along && array.ndim() > 1 ? unique_along(array, *along, parts) : unique(array, parts, equal_nan);
        });
        if (inverse && (!along || array.ndim() == 1)) result.inverse = result.inverse.reshape(array.shape());
        return requested(std::move(result));
      },
      nb::arg("x"), nb::arg("index"), nb::arg("inverse"), nb::arg("counts"), nb::arg("axis").none(),
      nb::arg("equal_nan"));
  module.def("isin", [](nb::handle elements, nb::handle tests, Truth invert) {
    const OperandPair pair(elements, tests, "isin");
    return make_array([&] { return isin(pair.a, pair.b, invert); });
  });
  module.def("union1d", [](nb::handle a, nb::handle b) {
    const OperandPair pair(a, b, "union1d");
    return make_array([&] { return union1d(pair.a, pair.b); });
  });
  module.def("intersect1d", [](nb::handle a, nb::handle b, Truth indices) {
    const OperandPair pair(a, b, "intersect1d");
    const Intersection found = without_gil([&] { return intersect1d(pair.a, pair.b, indices); });
    return nb::make_tuple(to_python(found.values), or_none(found.first), or_none(found.second));
  });
  module.def("setdiff1d", [](nb::handle a, nb::handle b, Truth assume_unique) {
    const OperandPair pair(a, b, "setdiff1d");
    return make_array([&] { return setdiff1d(pair.a, pair.b, assume_unique); });
  });
  module.def("setxor1d", [](nb::handle a, nb::handle b) {
    const OperandPair pair(a, b, "setxor1d");
    return make_array([&] { return setxor1d(pair.a, pair.b); });
  });
}

nb::object in_package(const char* name) { return package_attribute("iruka._numpy.sorting", name); }

void bind_methods() {
  auto type = nb::borrow<nb::class_<Array>>(nb::handle(reinterpret_cast<PyObject*>(array_type)));
  type.def(
          "sort",
          [](nb::handle x, nb::handle axis, nb::handle kind, nb::handle stable, bool descending) {
            in_package("_sort_in_place")(x, axis, kind, stable, descending);
          },
          nb::arg("axis").none() = -1, nb::arg("kind") = nb::none(), nb::kw_only(), nb::arg("stable") = nb::none(),
          nb::arg("descending") = false,
          nb::sig("def sort(self, axis: int = -1, kind: str | None = None, *, stable: bool | None = None, "
                  "descending: bool = False) -> None"),
          "Sorts along an axis, in place. NaN comes last.")
      .def(
          "argsort",
          [](nb::handle x, nb::handle axis, nb::handle kind, nb::handle stable, bool descending) {
            return in_package("argsort")(x, axis, kind, nb::arg("stable") = stable, nb::arg("descending") = descending);
          },
          nb::arg("axis").none() = -1, nb::arg("kind") = nb::none(), nb::kw_only(), nb::arg("stable") = nb::none(),
          nb::arg("descending") = false,
          nb::sig("def argsort(self, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None, "
                  "descending: bool = False) -> ndarray"),
          "The indices that sort along an axis; of the flattened array for None.")
      .def(
          "partition",
          [](nb::handle x, nb::handle kth, nb::handle axis, nb::handle kind) {
            in_package("_partition_in_place")(x, kth, axis, kind);
          },
          nb::arg("kth"), nb::arg("axis").none() = -1, nb::arg("kind") = "introselect",
          nb::sig("def partition(self, kth, axis: int = -1, kind: str = 'introselect') -> None"),
          "Puts the elements at positions kth where sort would, smaller ones before and larger ones behind, in place.")
      .def(
          "argpartition",
          [](nb::handle x, nb::handle kth, nb::handle axis, nb::handle kind) {
            return in_package("argpartition")(x, kth, axis, kind);
          },
          nb::arg("kth"), nb::arg("axis").none() = -1, nb::arg("kind") = "introselect",
          nb::sig("def argpartition(self, kth, axis: int | None = -1, kind: str = 'introselect') -> ndarray"),
          "The indices that partition along an axis; of the flattened array for None.");
}

}  // namespace

void bind_sorting(nb::module_& module) {
  bind_functions(module);
  bind_sets(module);
  bind_methods();
}

}  // namespace iruka::python
