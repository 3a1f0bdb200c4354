// Calls whose arguments a bound function does not take fail in Python's own words, as functions of Python do.
//
// nanobind says such failures in one text that lists every type, and has no hook for it. Each function of it holds its
// entry point where the vectorcall protocol looks for it; ours stand in front of them.
#include <array>
#include <utility>

#include "convert.h"

namespace iruka::python {

namespace {

constexpr size_t kMostEntries = 8;
std::array<vectorcallfunc, kMostEntries> entries;  // nanobind's, one for each way of reading arguments

vectorcallfunc& entry_of(nb::handle function) {
  char* object = reinterpret_cast<char*>(function.ptr());
  return *reinterpret_cast<vectorcallfunc*>(object + Py_TYPE(function.ptr())->tp_vectorcall_offset);
}

/// Raises in place of a refusal of nanobind what iruka.errors._argument_error makes of it.
void explain_refusal(PyObject* function, PyObject* const* arguments, size_t flagged_count, PyObject* names) noexcept {
  if (PyErr_Occurred() != PyExc_TypeError) return;
  nb::python_error error;  // takes the one that is set
  try {
    const nb::str message(error.value());
    const nb::object start = nb::handle(function).attr("__name__") + nb::str("(): incompatible function arguments");
    if (!nb::cast<bool>(message.attr("startswith")(start))) return error.restore();
    // Python's flag and nanobind's are the highest bits.
    const auto count = static_cast<Py_ssize_t>(static_cast<uint32_t>(flagged_count));
    nb::list positional;
    for (Py_ssize_t k = 0; k < count; k++) positional.append(nb::handle(arguments[k]));
    nb::dict keywords;
    for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); k++)
      keywords[nb::handle(PyTuple_GET_ITEM(names, k))] = nb::handle(arguments[count + k]);
    const nb::object raised =
        package_attribute("iruka.errors", "_argument_error")(nb::handle(function), message, positional, keywords);
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  } catch (nb::python_error& failure) {
    failure.restore();
  }
}

template <size_t K>
PyObject* call(PyObject* function, PyObject* const* arguments, size_t flagged_count, PyObject* names) {
  PyObject* result = entries[K](function, arguments, flagged_count, names);
  if (!result) explain_refusal(function, arguments, flagged_count, names);
  return result;
}

template <size_t... K>
constexpr std::array<vectorcallfunc, sizeof...(K)> calls_of(std::index_sequence<K...>) {
  return {call<K>...};
}

void put_in_front(nb::handle function) {
  constexpr auto calls = calls_of(std::make_index_sequence<kMostEntries>());
  vectorcallfunc& entry = entry_of(function);
  for (size_t k = 0; k < kMostEntries; k++) {
    if (!entries[k]) entries[k] = entry;
    if (entries[k] != entry) continue;
    entry = calls[k];
    return;
  }
}

}  // namespace

void explain_refused_arguments(nb::handle scope) {
  for (nb::handle member : scope.attr("__dict__").attr("values")()) {
    if (nb::type_check(member))
      explain_refused_arguments(member);
    else if (nb::hasattr(member, "__nb_signature__"))
      put_in_front(member);
  }
}

}  // namespace iruka::python
