// Elements chosen among arrays or by masks, and bools packed into bits.
#include "iruka/selection.h"

#include <nanobind/stl/string.h>

#include <vector>

#include "composed.h"
#include "ops.h"

namespace iruka::python {

namespace {

/// What choices are made of: arrays, and numbers whose dtypes adapt to those of the arrays.
class Choices {
 public:
  Choices(nb::handle sequence, nb::handle near) : items_(nb::steal(PySequence_List(sequence.ptr()))) {
    if (!items_.is_valid()) throw nb::python_error();
    operands_ = std::vector<Operand>(nb::len(items_));
    for (size_t k = 0; k < operands_.size(); ++k) take(operands_[k], nb::handle(items_[k]), near);
  }
  std::vector<Argument> arguments() const {
    std::vector<Argument> all;
    all.reserve(operands_.size());
    for (const Operand& operand : operands_) all.push_back(operand.argument());
    return all;
  }
  static void take(Operand& operand, nb::handle item, nb::handle near) {
    PyObject* const others[] = {near.ptr()};
    if (!operand.take(item.ptr(), false, HugeInteger::refused, others))
      throw TypeError("a choice must be an array or a number, not " + describe(item.type()));
  }

 private:
  nb::object items_;
  std::vector<Operand> operands_;
};

BitOrder bit_order(const char* function, nb::handle order) {
  const std::string text = PyUnicode_Check(order.ptr()) ? to_text(order, "bitorder") : "";
  if (text == "big") return BitOrder::highest_first;
  if (text == "little") return BitOrder::lowest_first;
  throw ValueError(std::string(function) + ": bitorder must be 'big' or 'little', not " + describe(order));
}

void bind_choices(nb::module_& module) {
  module.def("choose", [](nb::handle a, nb::handle choices, nb::handle mode) {
    const Array numbers = as_operand(a, "choose");
    const Choices given(choices, to_python(numbers));
    const IndexMode way = parse_index_mode(to_text(mode, "choose: mode"));
    return composed_array([&] { return choose(numbers, given.arguments(), way); });
  });
  module.def("select", [](nb::handle conditions, nb::handle choices, nb::handle otherwise) {
    const std::vector<Array> flags = arrays_of(conditions, "select");
    const nb::object near = flags.empty() ? nb::none() : to_python(flags.front());
    const Choices given(choices, near);
    Operand rest;
    Choices::take(rest, otherwise, near);
    return to_python(composed([&] { return select(flags, given.arguments(), rest.argument()); }));
  });
}

void bind_masks(nb::module_& module) {
  module.def("extract", [](nb::handle condition, nb::handle x) {
    const OperandPair pair(x, condition, "extract");
    return make_array([&] { return extract(pair.b, pair.a); });
  });
  module.def("putmask", [](Array x, Array mask, Array values) { without_gil([&] { putmask(x, mask, values); }); });
  module.def("place", [](Array x, Array mask, Array values) { without_gil([&] { place(x, mask, values); }); });
}

void bind_bits(nb::module_& module) {
  module.def(
      "packbits",
      [](nb::handle x, nb::handle axis, nb::handle order) {
        const Array array = as_operand(x, "packbits");
        const BitOrder way = bit_order("packbits", order);
        const std::optional<int64_t> along = optional_axis(axis, "packbits: axis");
        return make_mutable_array([&] { return packbits(array, along, way); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("bitorder"));
  module.def(
      "unpackbits",
      [](nb::handle x, nb::handle axis, nb::handle count, nb::handle order) {
        const Array array = as_operand(x, "unpackbits");
        const BitOrder way = bit_order("unpackbits", order);
        const std::optional<int64_t> along = optional_axis(axis, "unpackbits: axis");
        std::optional<int64_t> wanted;
        if (!count.is_none()) wanted = to_int64(count, "unpackbits: count");
        return make_mutable_array([&] { return unpackbits(array, along, wanted, way); });
      },
      nb::arg("x"), nb::arg("axis").none(), nb::arg("count").none(), nb::arg("bitorder"));
}

}  // namespace

void bind_selection(nb::module_& module) {
  bind_choices(module);
  bind_masks(module);
  bind_bits(module);
}

}  // namespace iruka::python
