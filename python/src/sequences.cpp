// Evenly spaced values between arrays, windows, and arrays with margins.
#include "iruka/sequences.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "composed.h"
#include "cuda.h"
#include "iruka/padding.h"
#include "ops/create/sequences.h"

namespace iruka::python {

namespace {

Operand operand_of(nb::handle object, const char* what) {
  Operand operand;
  if (!operand.take(object.ptr(), false)) throw TypeError(std::string(what) + " must be an array or a number");
  return operand;
}

/// A number as NumPy's scalar, whose assignment is an error only where it leaves the range of a signed dtype. A GPU's
/// value stays an array.
PadValue pad_value(nb::handle given, Dtype dtype) {
  Scalar number;
  if (is_array(given.ptr())) {
    const Array& value = array_of(given.ptr());
    if (!is_host(value.device())) return value;
    number = item_of(value);
  } else if (!to_scalar(given.ptr(), number, takes_any_integer(dtype))) {
    throw TypeError("pad: a value must be a number, not " + describe(given));
  }
  return number.weak() ? number.typed(number.dtype()) : number;
}

/// A list of pairs, a pair an axis.
template <class T, class Convert>
std::vector<Margins<T>> margins_of(nb::handle pairs, Convert convert) {
  std::vector<Margins<T>> margins;
  for (nb::handle pair : pairs) margins.push_back({convert(pair[0]), convert(pair[1])});
  return margins;
}

}  // namespace

void bind_sequences(nb::module_& module) {
  module.def(
      "spaced",
      [](nb::handle start, nb::handle stop, int64_t count, bool endpoint, nb::handle dtype) {
        const Operand first = operand_of(start, "linspace: start"), last = operand_of(stop, "linspace: stop");
        const Dtype computing = to_dtype(dtype);
        const ops::Spaced made =
            composed([&] { return ops::spaced(first.argument(), last.argument(), count, endpoint, computing); });
        return nb::make_tuple(to_python(made.values), made.steps.valid() ? to_result(made.steps) : nb::none());
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("count"), nb::arg("endpoint"), nb::arg("dtype"));
  module.def(
      "logspace",
      [](nb::handle start, nb::handle stop, int64_t count, bool endpoint, nb::handle base, nb::handle dtype,
         int64_t axis) {
        const Operand first = operand_of(start, "logspace: start"), last = operand_of(stop, "logspace: stop"),
                      power = operand_of(base, "logspace: base");
        const std::optional<Dtype> wanted = to_optional_dtype(dtype);
        return to_python(composed([&] {
          return logspace(first.argument(), last.argument(), count, endpoint, power.argument(), wanted, axis);
        }));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("count"), nb::arg("endpoint"), nb::arg("base"),
      nb::arg("dtype").none(), nb::arg("axis"));
  module.def(
      "geomspace",
      [](Array start, Array stop, int64_t count, bool endpoint, nb::handle dtype, int64_t axis) {
        const std::optional<Dtype> wanted = to_optional_dtype(dtype);
        return to_python(composed([&] { return geomspace(start, stop, count, endpoint, wanted, axis); }));
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("count"), nb::arg("endpoint"), nb::arg("dtype").none(),
      nb::arg("axis"));
  module.def("bartlett", [](double points) { return make_array([&] { return bartlett(points); }); });
  module.def("hanning", [](double points) { return make_array([&] { return hanning(points); }); });
  module.def("hamming", [](double points) { return make_array([&] { return hamming(points); }); });
  module.def("blackman", [](double points) { return make_array([&] { return blackman(points); }); });
  module.def("kaiser", [](double points, double beta) { return composed_array([&] { return kaiser(points, beta); }); });
  module.def(
      "pad",
      [](Array x, nb::handle widths, const std::string& mode, nb::handle values, nb::handle lengths, bool is_odd) {
        PadOptions options{.mode = parse_pad_mode(mode), .is_odd = is_odd};
        const auto margins = margins_of<int64_t>(widths, [](nb::handle width) { return to_int64(width, "pad_width"); });
        options.values = margins_of<PadValue>(values, [&](nb::handle given) {
          const PadValue value = pad_value(given, x.dtype());
          if (options.mode != PadMode::constant) return value;
          const Scalar* const number = std::get_if<Scalar>(&value);
          number ? check_element(*number, x.dtype()) : check_elements(std::get<Array>(value), x.dtype());
          return value;
        });
        options.lengths = margins_of<std::optional<int64_t>>(lengths, [](nb::handle length) -> std::optional<int64_t> {
          if (length.is_none()) return {};
          return to_int64(length, "stat_length");
        });
        const Array padded = composed([&] { return pad(x, margins, options); });
        if (options.mode == PadMode::linear_ramp)
          for (const auto& [before, after] : options.values)
            for (const PadValue* value : {&before, &after})
              warn_of_discarded_imaginary(std::visit([](const auto& end) { return end.dtype(); }, *value), x.dtype());
        return to_python(padded);
      },
      nb::arg("x"), nb::arg("widths"), nb::arg("mode"), nb::arg("values"), nb::arg("lengths"), nb::arg("is_odd"));
}

}  // namespace iruka::python
