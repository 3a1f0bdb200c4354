// Generators of random arrays; python/iruka/_generator.py gives them NumPy's names and signatures.
#include "iruka/random.h"

#include <string>
#include <vector>

#include "convert.h"

namespace iruka::python {
namespace {

using random::DrawOptions;
using random::Generator;

/// Parameters as arguments, and what keeps them alive.
struct Parameters {
  std::vector<Operand> operands;
  std::vector<Argument> arguments;

  Parameters(const char* function, nb::handle sequence) {
    const nb::object items = nb::steal(PySequence_List(sequence.ptr()));
    if (!items.is_valid()) throw nb::python_error();
    const std::span<PyObject* const> objects(PySequence_Fast_ITEMS(items.ptr()), nb::len(items));
    operands.resize(objects.size());
    for (size_t k = 0; k < objects.size(); ++k) {
      if (!operands[k].take(objects[k], false, HugeInteger::refused, objects))
        throw TypeError("random." + std::string(function) + ": expected numbers or arrays, not " +
                        describe(nb::handle(objects[k]).type()));
      arguments.push_back(operands[k].argument());
    }
  }
};

DrawOptions options_of(const char* function, nb::handle size, nb::handle dtype, nb::handle out) {
  DrawOptions options;
  if (!size.is_none()) options.size = to_dims(size, ("random." + std::string(function) + ": size").c_str());
  options.dtype = to_optional_dtype(dtype);
  if (!out.is_none()) options.out = checked_array(out, ("random." + std::string(function) + ": out").c_str());
  return options;
}

template <class Draw>
nb::object drawn(nb::handle size, nb::handle out, Draw&& draw) {
  nb::object result = size.is_none() ? make_array(draw) : make_mutable_array(draw);
  return out.is_none() ? result : nb::borrow(out);
}

random::State state_of(uint64_t key, uint64_t drawn) { return {key, drawn}; }

void bind_generator(nb::module_& module) {
  nb::class_<Generator>(module, "Generator", "A stream of random arrays: a key, and how many arrays were drawn.")
      .def(nb::new_([](uint64_t key, uint64_t drawn) { return new Generator(state_of(key, drawn)); }), nb::arg("key"),
           nb::arg("drawn") = 0)
      .def_prop_ro("state",
                   [](const Generator& g) {
                     const random::State state = g.state();
                     return nb::make_tuple(state.key, state.drawn);
                   })
      .def(
          "set_state", [](Generator& g, uint64_t key, uint64_t drawn) { g.set_state({key, drawn}); }, nb::arg("key"),
          nb::arg("drawn"))
      .def(
          "draw",
          [](Generator& g, const char* distribution, nb::handle parameters, nb::handle size, nb::handle dtype,
             nb::handle out) {
            const Parameters given(distribution, parameters);
            const DrawOptions options = options_of(distribution, size, dtype, out);
            return drawn(size, out, [&] { return g.draw(distribution, given.arguments, options); });
          },
          nb::arg("distribution"), nb::arg("parameters"), nb::arg("size").none(), nb::arg("dtype").none(),
          nb::arg("out").none())
      .def(
          "integers",
          [](Generator& g, nb::handle low, nb::handle high, nb::handle size, nb::handle dtype, bool endpoint,
             nb::handle out) {
            const Parameters given("integers", nb::make_tuple(low, high));
            const DrawOptions options = options_of("integers", size, dtype, out);
            return drawn(size, out,
                         [&] { return g.integers(given.arguments[0], given.arguments[1], options, endpoint); });
          },
          nb::arg("low"), nb::arg("high"), nb::arg("size").none(), nb::arg("dtype").none(), nb::arg("endpoint"),
          nb::arg("out").none())
      .def(
          "permutation",
          [](Generator& g, int64_t n, nb::handle count) {
            std::optional<int64_t> chosen;
            if (!count.is_none()) chosen = to_int64(count, "random.choice: size");
            return make_array([&] { return g.permutation(n, chosen); });
          },
          nb::arg("n"), nb::arg("count") = nb::none())
      .def("permuted_rows",
           [](Generator& g, nb::handle matrix) {
             const Array array = checked_array(matrix, "random.permuted");
             return make_array([&] { return g.permuted_rows(array); });
           })
      .def(
          "multinomial",
          [](Generator& g, nb::handle trials, nb::handle probabilities, nb::handle size) {
            const Array n = checked_array(trials, "random.multinomial"),
                        p = checked_array(probabilities, "random.multinomial");
            std::optional<Dims> shape;
            if (!size.is_none()) shape = to_dims(size, "random.multinomial: size");
            return make_array([&] { return g.multinomial(n, p, shape); });
          },
          nb::arg("trials"), nb::arg("probabilities"), nb::arg("size").none())
      .def("multivariate_normal",
           [](Generator& g, nb::handle mean, nb::handle rows, nb::handle size) {
             const Array center = checked_array(mean, "random.multivariate_normal: mean");
             const Array factor = checked_array(rows, "random.multivariate_normal: rows");
             const Dims shape = to_dims(size, "random.multivariate_normal: size");
             return make_array([&] { return g.multivariate_normal(center, factor, shape); });
           })
      .def("multivariate_hypergeometric", [](Generator& g, nb::handle colors, int64_t taken, nb::handle size) {
        const Array kinds = checked_array(colors, "random.multivariate_hypergeometric");
        const Dims shape = to_dims(size, "random.multivariate_hypergeometric: size");
        return make_array([&] { return g.multivariate_hypergeometric(kinds, taken, shape); });
      });
}

}  // namespace

void bind_random(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_random", "Philox streams; iruka.random gives them NumPy's signatures.");
  bind_generator(module);
  module.def(
      "default_generator", [] { return &random::default_generator(); }, nb::rv_policy::reference,
      "The process-wide generator behind iruka.random's functions.");
  module.def("take_rows", [](nb::handle array, nb::handle order) {
    const Array x = checked_array(array, "random.choice"), k = checked_array(order, "random.choice");
    return make_array([&] { return random::take_rows(x, k); });
  });
  module.def("search_cumulative", [](nb::handle cumulative, nb::handle units) {
    const Array c = checked_array(cumulative, "random.choice"), u = checked_array(units, "random.choice");
    return make_array([&] { return random::search_cumulative(c, u); });
  });
}

}  // namespace iruka::python
