#include "iruka/patch_matching.h"

#include <nanobind/stl/string.h>

#include "convert.h"
#include "interop.h"
#include "picture_arguments.h"

namespace iruka::python {
namespace {

Array given_picture(nb::handle object, const char* what, Device& device) {
  if (!is_array_like(object.ptr()))
    throw TypeError(std::string(what) + " must be an array, not " + describe(object.type()));
  return as_array(object, device);
}

/// The options as iruka.image.nnf passes them: (patch, method, k, mask, window, border, seed, iterations, progress).
image::PatchOptions patch_options(const nb::tuple& given, Device& device) {
  image::PatchOptions options;
  options.patch = to_int64(given[0], "nnf: patch");
  options.method = image::parse_patch_method(to_text(given[1], "nnf: method"));
  options.k = to_int64(given[2], "nnf: k");
  if (!given[3].is_none()) options.mask = given_picture(given[3], "nnf: mask", device);
  if (!given[4].is_none()) {
    const Dims window = to_dims(given[4], "nnf: window");
    if (window.size() != 1 && window.size() != 2)
      throw ValueError("nnf: window must be a number or (rows, columns), not " + to_string(window));
    options.window = {window[0], window[window.size() - 1]};
  }
  options.border = to_border(given[5], "nnf: border");
  const int64_t seed = to_int64(given[6], "nnf: seed");
  if (seed < 0) throw ValueError("nnf: seed must not be negative, but is " + std::to_string(seed));
  options.seed = static_cast<uint64_t>(seed);
  options.iterations = to_int64(given[7], "nnf: iterations");
  const nb::handle progress = given[8];
  if (!progress.is_none())
    options.progress = [progress](int64_t done, int64_t all) {
      const GilHold hold;
      progress(done, all);
    };
  return options;
}

/// Where two pictures are matched: on the device of the first that has one.
Device& device_of(nb::handle a, nb::handle b) {
  PyObject* const given[] = {a.ptr(), b.ptr()};
  return device_among(given);
}

nb::tuple nnf(nb::handle a, nb::handle b, const nb::tuple& given) {
  Device& device = device_of(a, b);
  const Array first = given_picture(a, "nnf: a", device), second = given_picture(b, "nnf: b", device);
  const image::PatchOptions options = patch_options(given, device);
  image::NearestPatches found = without_gil([&] { return image::nnf(first, second, options); });
  return nb::make_tuple(to_python(std::move(found.field)), to_python(std::move(found.distances)));
}

nb::object reconstruct(nb::handle field, nb::handle b, nb::handle patch, nb::handle border) {
  Device& device = device_of(field, b);
  const Array places = given_picture(field, "reconstruct: field", device),
              picture = given_picture(b, "reconstruct: b", device);
  const int64_t size = to_int64(patch, "reconstruct: patch");
  const image::Border chosen = to_border(border, "reconstruct: border");
  return to_python(without_gil([&] { return image::reconstruct(places, picture, size, chosen); }));
}

}  // namespace

void bind_patch_matching(nb::module_& parent) {
  auto module = nb::borrow<nb::module_>(parent.attr("_image"));  // which bind_image has made
  module.def("nnf", &nnf, nb::arg("a"), nb::arg("b"), nb::arg("options"));
  module.def("reconstruct", &reconstruct, nb::arg("field"), nb::arg("b"), nb::arg("patch"), nb::arg("border"));
}

}  // namespace iruka::python
