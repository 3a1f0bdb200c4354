#include "iruka/image.h"

#include <nanobind/stl/string.h>

#include "buffer_bytes.h"
#include "convert.h"
#include "interop.h"
#include "iruka/device.h"

namespace iruka::python {

namespace {

image::DecodeOptions decode_options(const std::string& mode, nb::handle max_pixels, bool apply_orientation) {
  image::DecodeOptions options;
  if (mode == "rgb") {
    options.mode = image::ColorMode::rgb;
  } else if (mode == "gray" || mode == "grey") {
    options.mode = image::ColorMode::gray;
  } else if (mode == "rgba") {
    options.mode = image::ColorMode::rgba;
  } else if (mode == "unchanged") {
    options.mode = image::ColorMode::unchanged;
  } else {
    throw ValueError("mode must be 'rgb', 'gray', 'rgba' or 'unchanged', not '" + mode + "'");
  }
  if (!max_pixels.is_none()) options.max_pixels = to_int64(max_pixels, "max_pixels");
  options.apply_orientation = apply_orientation;
  return options;
}

/// What os.fsencode gave: a file's name need not be UTF-8.
std::string file_name(const nb::bytes& path) { return {path.c_str(), path.size()}; }

Array picture_of(nb::handle object) {
  if (!is_array_like(object.ptr())) {
    throw TypeError("a picture is an array, not " + describe(object.type()));
  }
  const Array picture = as_array(object, cpu());
  return without_gil([&] { return picture.to_device(cpu()); });
}

}  // namespace

void bind_image(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_image", "Codecs; iruka.image gives them defaults.");
  module.def(
      "imdecode",
      [](nb::handle data, const std::string& mode, nb::handle max_pixels, bool apply_orientation) {
        image::DecodeOptions options = decode_options(mode, max_pixels, apply_orientation);
        const BufferBytes bytes(data);
        GilRelease release;
        return image::imdecode(bytes.span(), options).to_device(default_device());
      },
      nb::arg("data"), nb::arg("mode"), nb::arg("max_pixels").none(), nb::arg("apply_orientation"));
  module.def(
      "imread",
      [](nb::bytes path, const std::string& mode, nb::handle max_pixels, bool apply_orientation) {
        image::DecodeOptions options = decode_options(mode, max_pixels, apply_orientation);
        std::string name = file_name(path);
        GilRelease release;
        return image::imread(name, options).to_device(default_device());
      },
      nb::arg("path"), nb::arg("mode"), nb::arg("max_pixels").none(), nb::arg("apply_orientation"));
  module.def("imencode", [](const std::string& format, nb::handle object, int quality, int compression) {
    Array picture = picture_of(object);
    std::vector<uint8_t> encoded;
    {
      GilRelease release;
      encoded = image::imencode(format, picture, {quality, compression});
    }
    return nb::bytes(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  });
  module.def("imwrite", [](nb::bytes path, nb::handle object, int quality, int compression) {
    Array picture = picture_of(object);
    std::string name = file_name(path);
    GilRelease release;
    image::imwrite(name, picture, {quality, compression});
  });
}

}  // namespace iruka::python
