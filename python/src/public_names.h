// dir() of objects that have attributes for their pickles and for the package.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace iruka::python {

namespace nb = nanobind;

/// The attributes of an object, without those that begin with a single underscore.
inline nb::list public_names(nb::handle self) {
  nb::list names;
  for (const nb::handle name : nb::handle(reinterpret_cast<PyObject*>(&PyBaseObject_Type)).attr("__dir__")(self)) {
    const std::string_view text = nb::cast<const char*>(name);
    if (!text.starts_with('_') || text.starts_with("__")) names.append(name);
  }
  return names;
}

template <class Class>
void bind_public_names(Class& type) {
  type.def("__dir__", public_names, nb::sig("def __dir__(self) -> list[str]"));
}

}  // namespace iruka::python
