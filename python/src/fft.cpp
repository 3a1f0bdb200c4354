// Fourier transforms for iruka.fft, of one array.
#include "iruka/fft.h"

#include <nanobind/stl/vector.h>

#include "composed.h"
#include "linalg.h"
#include "ops.h"
#include "ops/fft/frequencies.h"

namespace iruka::python {

void bind_fft(nb::module_& module) {
  module.def(
      "fft_transform",
      [](nb::handle x, int kind, int64_t length, int64_t axis, bool forward, double scale) {
        const Array array = checked_array(x, "fft");
        return make_array(
            [&] { return fft::transform(array, static_cast<fft::Kind>(kind), length, axis, forward, scale); });
      },
      nb::arg("x"), nb::arg("kind"), nb::arg("length"), nb::arg("axis"), nb::arg("forward"), nb::arg("scale"),
      "Transform along one axis: kind 0 complex, 1 real to half a spectrum, 2 half a spectrum to real.");
  module.def(
      "fft_transform_axes",
      [](nb::handle x, int kind, const std::vector<int64_t>& lengths, const std::vector<int64_t>& axes, bool forward,
         double scale) {
        const Array array = checked_array(x, "fft");
        const Dims extents(lengths.data(), static_cast<int>(lengths.size()));
        const Dims places(axes.data(), static_cast<int>(axes.size()));
        return make_array(
            [&] { return fft::transform(array, static_cast<fft::Kind>(kind), extents, places, forward, scale); });
      },
      nb::arg("x"), nb::arg("kind"), nb::arg("lengths"), nb::arg("axes"), nb::arg("forward"), nb::arg("scale"),
      "Transform along several axes, the last one first; kinds as those of fft_transform, for the last axis.");
  module.def("fft_frequencies", [](int64_t n, bool is_half, double step) {
    return make_array([&] { return ops::frequencies(n, is_half, step); });
  });
  module.def(
      "fftshift",
      [](nb::handle x, nb::handle axes, bool inverse) {
        const Array array = as_operand(x, "fftshift");
        const std::optional<Dims> along = optional_axes(axes);
        return make_mutable_array([&] { return (inverse ? fft::ifftshift : fft::fftshift)(array, along); });
      },
      nb::arg("x"), nb::arg("axes").none(), nb::arg("inverse"));
}

}  // namespace iruka::python
