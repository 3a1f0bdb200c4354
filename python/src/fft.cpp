// Fourier transforms for iruka.fft: one axis of one array.
#include "iruka/fft.h"

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
}

}  // namespace iruka::python
