// Fourier transforms for iruka.fft, of one array.
#include "iruka/fft.h"

#include <nanobind/stl/vector.h>

#include "convert.h"
#include "linalg.h"

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
}

}  // namespace iruka::python
