#include "iruka/random.h"

#include "convert.h"

namespace iruka::python {

void bind_random(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_random", "Philox streams; iruka.random gives them NumPy's signatures.");
  module.def("seed", [](nb::handle value) {
    int64_t seed = to_int64(value, "seed");
    if (seed < 0) throw ValueError("seed: the seed must not be negative, but is " + std::to_string(seed));
    random::seed(static_cast<uint64_t>(seed));
  });
  module.def(
      "random",
      [](nb::handle shape, nb::handle dtype) {
        Dims extents = to_dims(shape, "random: size");
        Dtype type = to_dtype(dtype);
        return make_array([&] { return random::random(extents, type); });
      },
      nb::arg("shape"), nb::arg("dtype").none());
  module.def(
      "randint",
      [](nb::handle low, nb::handle high, nb::handle shape, nb::handle dtype) {
        int64_t first = to_int64(low, "randint: low"), end = to_int64(high, "randint: high");
        Dims extents = to_dims(shape, "randint: size");
        Dtype type = to_dtype(dtype);
        return make_array([&] { return random::randint(first, end, extents, type); });
      },
      nb::arg("low"), nb::arg("high"), nb::arg("shape"), nb::arg("dtype"));
  module.def(
      "normal",
      [](double mean, double deviation, nb::handle shape, nb::handle dtype) {
        Dims extents = to_dims(shape, "normal: size");
        Dtype type = to_dtype(dtype);
        return make_array([&] { return random::normal(mean, deviation, extents, type); });
      },
      nb::arg("first"), nb::arg("second"), nb::arg("shape"), nb::arg("dtype").none());
  module.def(
      "uniform",
      [](double low, double high, nb::handle shape, nb::handle dtype) {
        Dims extents = to_dims(shape, "uniform: size");
        Dtype type = to_dtype(dtype);
        return make_array([&] { return random::uniform(low, high, extents, type); });
      },
      nb::arg("first"), nb::arg("second"), nb::arg("shape"), nb::arg("dtype").none());
}

}  // namespace iruka::python
