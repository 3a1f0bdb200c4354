#include "array_protocols.h"

#include "interop.h"

namespace iruka::python {

namespace {

/// Matrices transposed: the last two axes exchanged.
Array matrix_transpose(const Array& x) {
  if (x.ndim() < 2) throw ValueError("matrix transpose with ndim < 2 is undefined");
  return x.swapaxes(-1, -2);
}

nb::object in_protocols(const char* name) { return package_attribute("iruka._array.protocols", name); }

}  // namespace

void bind_array_protocols(nb::class_<Array>& type) {
  type.def_prop_ro(
          "mT", [](const Array& x) { return to_python(matrix_transpose(x)); }, nb::sig("def mT(self) -> ndarray"),
          "View with the last two axes exchanged. Raises ValueError for fewer than two.")
      .def(
          "conjugate", [](nb::handle x) { return package_attribute("iruka._array", "conjugate")(x); },
          nb::sig("def conjugate(self) -> ndarray"), "Complex conjugate.")
      .def(
          "round",
          [](nb::handle x, nb::handle decimals, nb::handle out) {
            return package_attribute("iruka", "round")(x, decimals, out);
          },
          nb::arg("decimals") = 0, nb::arg("out") = nb::none(),
          nb::sig("def round(self, decimals: int = 0, out: ndarray | None = None) -> ndarray"),
          "The nearest multiple of 10**-decimals, halves to even.")
      .def(
          "__array_ufunc__",
          [](nb::args arguments, nb::kwargs keywords) { return in_protocols("_array_ufunc")(*arguments, **keywords); },
          nb::sig("def __array_ufunc__(self, ufunc, method: str, *inputs, **kwargs) -> object"))
      .def(
          "__array_function__",
          [](nb::args arguments, nb::kwargs keywords) {
            return in_protocols("_array_function")(*arguments, **keywords);
          },
          nb::sig("def __array_function__(self, func, types, args, kwargs) -> object"))
      .def(
          "__array_namespace__",
          [](nb::handle, nb::handle version) { return package_attribute("iruka.array_api", "_namespace")(version); },
          nb::kw_only(), nb::arg("api_version") = nb::none(),
          nb::sig("def __array_namespace__(self, /, *, api_version: str | None = None) -> types.ModuleType"))
      .def_static(
          "__class_getitem__",
          [](nb::handle item) {
            return package_attribute("types", "GenericAlias")(nb::handle(reinterpret_cast<PyObject*>(array_type)),
                                                              item);
          },
          nb::sig("def __class_getitem__(item, /) -> types.GenericAlias"));
}

}  // namespace iruka::python
