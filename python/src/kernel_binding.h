// The members that all kernels over whole arrays have in Python: their texts, parameters, generated code and value.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"
#include "public_names.h"

namespace iruka::python {

inline constexpr const char *kCachedCodes =
                                "Texts generated so far, by the dtypes of the arrays; of several the first.",
                            *kCachedCode = "The first text generated. Raises ValueError before the first call.";
nb::dict codes_by_dtypes(const std::vector<GeneratedSource>& sources);
std::string first_code(const std::string& kernel, const std::vector<GeneratedSource>& sources);
nb::tuple parameter_tuple(std::span<const Parameter> list);
/// Writes a text to a file of the cache folder and returns its path.
nb::object keep_source(const std::string& kernel, const std::string& text);
/// __reduce__ of a kernel: the function and arguments that recreate it from its texts, `_arguments` and `kwargs`.
nb::object reduce_kernel(nb::handle self);

/// What makes two kernels equal: name, parameters, texts and options.
std::vector<std::string> parts_of(const ElementwiseKernel& kernel);
std::vector<std::string> parts_of(const ReductionKernel& kernel);
std::vector<std::string> parts_of(const StagedKernel& kernel);
/// The same of a list of parameters.
std::string parts_of(std::span<const Parameter> list);

/// Kernels are values: equal where their parts are, if they are of one Python type; pickled by what made them.
template <class Kernel>
void bind_value(nb::class_<Kernel>& type) {
  type.def(
      "__eq__",
      [](nb::handle self, nb::handle other) -> nb::object {
        if (!other.type().is(self.type())) return nb::borrow(Py_NotImplemented);
        return nb::bool_(parts_of(instance_of<Kernel>(self.ptr())) == parts_of(instance_of<Kernel>(other.ptr())));
      },
      nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"));
  type.def("__hash__", [](nb::handle self) {
    size_t hash = 0;
    for (const std::string& part : parts_of(instance_of<Kernel>(self.ptr())))
      hash = hash * 1000003 ^ std::hash<std::string>()(part);
    return static_cast<int64_t>(hash);
  });
  type.def("__reduce__", reduce_kernel, nb::sig("def __reduce__(self) -> tuple"));
  type.def("__repr__", [](const Kernel& k) { return "<" + k.to_string() + ">"; });
  bind_public_names(type);
}

/// Name, parameters and the texts that every kernel has.
template <class Kernel>
void bind_description(nb::class_<Kernel>& type) {
  type.def_prop_ro(
          "name", [](const Kernel& k) { return k.name(); }, "The kernel's name.")
      .def_prop_ro(
          "preamble", [](const Kernel& k) { return k.options().preamble; }, "Helper functions and types.")
      .def_prop_ro(
          "options", [](const Kernel& k) { return nb::tuple(nb::cast(k.options().options)); },
          nb::sig("def options(self) -> tuple[str, ...]"), "Compiler options.")
      .def_prop_ro(
          "in_params", [](const Kernel& k) { return parameter_tuple(k.in_params()); },
          nb::sig("def in_params(self) -> tuple[ParameterInfo, ...]"), "Inputs.")
      .def_prop_ro(
          "out_params", [](const Kernel& k) { return parameter_tuple(k.out_params()); },
          nb::sig("def out_params(self) -> tuple[ParameterInfo, ...]"), "Outputs.")
      .def_prop_ro(
          "params", [](const Kernel& k) { return parameter_tuple(k.in_params()) + parameter_tuple(k.out_params()); },
          nb::sig("def params(self) -> tuple[ParameterInfo, ...]"), "Inputs, then outputs.")
      .def_prop_ro(
          "nin", [](const Kernel& k) { return k.nin(); }, "Number of inputs.")
      .def_prop_ro(
          "nout", [](const Kernel& k) { return k.nout(); }, "Number of outputs.")
      .def_prop_ro(
          "nargs", [](const Kernel& k) { return k.nin() + k.nout(); }, "Inputs and outputs together.")
      .def_prop_ro(
          "cached_codes", [](const Kernel& k) { return codes_by_dtypes(k.generated_sources()); },
          nb::sig("def cached_codes(self) -> dict[tuple, str]"), kCachedCodes)
      .def_prop_ro(
          "cached_code", [](const Kernel& k) { return first_code(k.name(), k.generated_sources()); }, kCachedCode);
}

/// Options of kernels whose bodies write the outputs of an index space.
template <class Kernel>
void bind_index_space_options(nb::class_<Kernel>& type) {
  type.def_prop_ro(
          "reduce_dims", [](const Kernel& k) { return k.options().reduce_dims; }, "Whether axes are merged.")
      .def_prop_ro(
          "no_return", [](const Kernel& k) { return k.options().no_return; }, "Whether a call returns None.")
      .def_prop_ro(
          "return_tuple", [](const Kernel& k) { return k.options().return_tuple; },
          "Whether a call always returns a tuple.");
}

/// The text that a kernel makes for the arguments of a call.
template <class Call, class Kernel>
std::string source_of(const Kernel& kernel, nb::args positional, nb::kwargs keywords) {
  return Call(kernel, positional.ptr(), keywords.ptr()).run([&](auto list, const auto& options) {
    return kernel.source(list, options);
  });
}

/// What a kernel says of the code that it makes for the arguments of a call. `Call` holds these arguments and options;
/// its run() gives them to a function without the GIL. `parameters` are the call's, in Python's syntax.
template <class Call, class Kernel>
void bind_inspection(nb::class_<Kernel>& type, const std::string& parameters, const char* source_documentation,
                     const std::string& report_documentation) {
  const auto signature = [&](const char* method, const char* result) {
    return std::string("def ") + method + parameters + " -> " + result;
  };
  type.def("source", source_of<Call, Kernel>, nb::sig(signature("source", "str").c_str()), source_documentation);
  type.def(
      "assembly",
      [](const Kernel& kernel, nb::args positional, nb::kwargs keywords) {
        return Call(kernel, positional.ptr(), keywords.ptr()).run([&](auto list, const auto& options) {
          return kernel.assembly(list, options);
        });
      },
      nb::sig(signature("assembly", "str").c_str()), "The machine code for arguments like these, as text.");
  type.def(
      "report",
      [](const Kernel& kernel, nb::args positional, nb::kwargs keywords) {
        return Call(kernel, positional.ptr(), keywords.ptr()).run([&](auto list, const auto& options) {
          return kernel.report(list, options);
        });
      },
      nb::sig(signature("report", "KernelReport").c_str()),
      (report_documentation +
       "\n\nCompiles again at each call. Raises what a call with these arguments raises before it runs.")
          .c_str());
  type.def(
      "path",
      [](const Kernel& kernel, nb::args positional, nb::kwargs keywords) {
        return keep_source(kernel.name(), source_of<Call>(kernel, std::move(positional), std::move(keywords)));
      },
      nb::sig(signature("path", "str").c_str()),
      "Writes source(...) to a file that is kept in the cache folder and returns its path.");
}

}  // namespace iruka::python
