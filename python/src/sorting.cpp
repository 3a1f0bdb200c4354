// Sorting and sets.
#include "iruka/sorting.h"

#include <nanobind/stl/vector.h>

#include <vector>

#include "convert.h"

namespace iruka::python {

namespace {

std::optional<int64_t> axis_of(nb::handle axis, const char* what) {
  if (axis.is_none()) return {};
  return to_int64(axis, what);
}

nb::object or_none(const Array& array) { return array.valid() ? to_python(array) : nb::none(); }

nb::tuple unique_parts(UniqueResult (*find)(const Array&, const UniqueParts&, bool), const Array& x, UniqueParts parts,
                       bool equal_nan) {
  const UniqueResult result = without_gil([&] { return find(x, parts, equal_nan); });
  return nb::make_tuple(to_python(result.values), or_none(result.index), or_none(result.inverse),
                        or_none(result.counts));
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
      [](Array x, bool index, bool inverse, bool counts, bool equal_nan) {
        return unique_parts(unique, x, {index, inverse, counts}, equal_nan);
      },
      nb::arg("x"), nb::arg("index"), nb::arg("inverse"), nb::arg("counts"), nb::arg("equal_nan"));
  module.def(
      "unique_rows",
      [](Array x, bool index, bool inverse, bool counts, bool equal_nan) {
        return unique_parts(unique_rows, x, {index, inverse, counts}, equal_nan);
      },
      nb::arg("x"), nb::arg("index"), nb::arg("inverse"), nb::arg("counts"), nb::arg("equal_nan"));
  module.def(
      "find_sorted", [](Array sorted, Array sought) { return make_array([&] { return find_sorted(sorted, sought); }); },
      nb::arg("sorted"), nb::arg("sought"));
  module.def(
      "is_among_sorted",
      [](Array sorted, Array sought, bool invert) {
        return make_array([&] { return is_among_sorted(sorted, sought, invert); });
      },
      nb::arg("sorted"), nb::arg("sought"), nb::arg("invert"));
  module.def(
      "true_indices", [](Array flags) { return make_array([&] { return true_indices(flags); }); }, nb::arg("flags"));
  module.def(
      "take_flat", [](Array x, Array indices) { return make_array([&] { return take_flat(x, indices); }); },
      nb::arg("x"), nb::arg("indices"));
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
