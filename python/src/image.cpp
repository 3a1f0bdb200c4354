#include "iruka/image.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <exception>
#include <limits>

#include "buffer_bytes.h"
#include "convert.h"
#include "device.h"
#include "image/codec.h"
#include "image/file.h"
#include "image/file_batch.h"
#include "interop.h"
#include "iruka/device.h"
#include "iruka/picture_geometry.h"
#include "picture_arguments.h"

namespace iruka::python {

namespace {

image::ColorMode to_mode(nb::handle object) {
  static constexpr std::pair<std::string_view, image::ColorMode> kModes[] = {
      {"rgb", image::ColorMode::rgb},
      {"bgr", image::ColorMode::bgr},
      {"gray", image::ColorMode::gray},
      {"grey", image::ColorMode::gray},
      {"rgba", image::ColorMode::rgba},
      {"ycbcr", image::ColorMode::ycbcr},
      {"unchanged", image::ColorMode::unchanged}};
  const std::string given = to_text(object, "mode");
  std::string mode = given;
  for (char& c : mode) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (auto& [name, value] : kModes) {
    if (mode == name) return value;
  }
  throw ValueError("mode must be 'rgb', 'bgr', 'gray', 'rgba', 'ycbcr' or 'unchanged', not '" + given + "'");
}

}  // namespace

image::DecodeOptions decode_options(const nb::tuple& given) {
  image::DecodeOptions options;
  options.mode = to_mode(given[0]);
  if (!given[1].is_none()) options.max_pixels = to_int64(given[1], "max_pixels");
  options.apply_orientation = nb::cast<bool>(nb::bool_(nb::handle(given[2])));
  options.dtype = to_optional_dtype(given[3]);
  if (!given[4].is_none()) {
    const Dims roi = to_dims(given[4], "roi");
    if (roi.size() != 4) throw ValueError("roi must be (y, x, height, width), not " + to_string(roi));
    options.region = {roi[0], roi[1], roi[2], roi[3]};
  }
  if (!given[5].is_none()) {
    const Dims size = to_dims(given[5], "at_least");
    if (size.size() != 2) throw ValueError("at_least must be (height, width), not " + to_string(size));
    options.at_least = {size[0], size[1]};
  }
  if (!given[6].is_none()) options.device = &to_device(given[6], "device");
  if (!given[7].is_none()) options.chain = &nb::cast<const image::Chain&>(given[7]);
  if (given[8].is_none()) return options;
  options.reducing_gap = to_double(given[8], "reducing_gap");
  if (options.reducing_gap == 0) options.reducing_gap = -1;  // which is no gap
  return options;
}

nb::object exception_object(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    set_python_error();
  }
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nb::steal(value);
}

namespace {

/// The options as iruka.image passes them: (quality, compression, lossless).
image::EncodeOptions encode_options(const nb::tuple& given) {
  const auto number = [&](size_t k, const char* what) {
    constexpr int64_t kMost = std::numeric_limits<int>::max();  // which no format takes
    return static_cast<int>(std::clamp(to_int64(given[k], what), -kMost, kMost));
  };
  return {number(0, "quality"), number(1, "compression"), nb::cast<bool>(nb::bool_(nb::handle(given[2])))};
}

/// Pictures of no named device are decoded by the CPU for the default one.
void move_to_default(Array& picture, const image::DecodeOptions& options) {
  if (!options.device) picture = picture.to_device(default_device());
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

std::optional<Array> target_of(nb::handle out) {
  std::optional<Array> target = given_output(out);
  if (!target && !out.is_none()) throw TypeError("out must be an array, not " + describe(out.type()));
  return target;
}

/// Decodes into `out`, or into a new array if it is None.
nb::object decode(nb::handle data, const std::string& where, const nb::tuple& given, nb::handle out) {
  const image::DecodeOptions options = decode_options(given);
  const BufferBytes bytes(data);
  const std::optional<Array> target = target_of(out);
  Array picture = without_gil([&] {
    Array decoded = image::decode(bytes.span(), options, where, target ? &*target : nullptr);
    if (!target) move_to_default(decoded, options);
    return decoded;
  });
  return target ? nb::borrow(out) : to_python(std::move(picture));
}

nb::object read(const nb::bytes& path, const nb::tuple& given, nb::handle out) {
  const image::DecodeOptions options = decode_options(given);
  const std::string name = file_name(path);
  const std::optional<Array> target = target_of(out);
  Array picture = without_gil([&] {
    if (target) {
      image::imread_into(*target, name, options);
      return *target;
    }
    Array decoded = image::imread(name, options);
    move_to_default(decoded, options);
    return decoded;
  });
  return target ? nb::borrow(out) : to_python(std::move(picture));
}

nb::tuple info_tuple(const image::PictureInfo& info) {
  return nb::make_tuple(info.format, from_dims(info.shape), dtype_object(info.dtype), info.orientation);
}

/// Pictures, and exceptions in place of those that cannot be decoded.
nb::list batch_list(std::vector<image::BatchItem> items, const image::DecodeOptions& options) {
  without_gil([&] {
    for (image::BatchItem& item : items) {
      if (!item.error) move_to_default(item.picture, options);
    }
    return 0;
  });
  nb::list list;
  for (image::BatchItem& item : items) {
    list.append(item.error ? exception_object(item.error) : to_python(std::move(item.picture)));
  }
  return list;
}

nb::list decode_batch(const nb::list& sources, const nb::tuple& given) {
  const image::DecodeOptions options = decode_options(given);
  std::vector<std::unique_ptr<BufferBytes>> buffers;
  std::vector<std::span<const uint8_t>> files;
  std::vector<std::exception_ptr> problems;
  for (nb::handle source : sources) {
    files.emplace_back();
    problems.emplace_back();
    try {
      buffers.push_back(std::make_unique<BufferBytes>(source));
      files.back() = buffers.back()->span();
    } catch (...) {  // as a file that is no picture, this is not an error of the others
      problems.back() = std::current_exception();
    }
  }
  std::vector<image::BatchItem> items = without_gil([&] { return image::imdecode_batch(files, options); });
  for (size_t k = 0; k < items.size(); ++k) {
    if (problems[k]) items[k].error = problems[k];
  }
  return batch_list(std::move(items), options);
}

nb::list read_batch(const nb::list& paths, const nb::tuple& given) {
  const image::DecodeOptions options = decode_options(given);
  std::vector<std::string> names;
  for (nb::handle path : paths) names.push_back(file_name(nb::cast<nb::bytes>(path)));
  return batch_list(without_gil([&] { return image::imread_batch(names, options); }), options);
}

}  // namespace

void bind_image(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_image", "Codecs; iruka.image gives them defaults.");
  module.def("decode", &decode, nb::arg("data"), nb::arg("where"), nb::arg("options"), nb::arg("out").none());
  module.def("read", &read, nb::arg("path"), nb::arg("options"), nb::arg("out").none());
  module.def("decode_batch", &decode_batch, nb::arg("sources"), nb::arg("options"));
  module.def("read_batch", &read_batch, nb::arg("paths"), nb::arg("options"));
  module.def(
      "peek",
      [](nb::handle data, const std::string& where) {
        const BufferBytes bytes(data);
        return info_tuple(without_gil([&] { return image::peek(bytes.span(), where); }));
      },
      nb::arg("data").none(), nb::arg("where"));
  module.def("peek_file", [](const nb::bytes& path) {
    const std::string name = file_name(path);
    return info_tuple(without_gil([&] { return image::peek_file(name); }));
  });
  module.def(
      "jpeg_decoder",
      [](nb::handle device) {
        Device& chosen = to_device(device, "device");
        const image::JpegDecoderInfo info = without_gil([&] { return image::jpeg_decoder(chosen); });
        return nb::make_tuple(info.name, info.problem);
      },
      nb::arg("device").none());
  module.def("reduced_by_means", [](nb::handle object, int64_t divisor) {  // for tests
    const Array picture = as_array(object, cpu());
    return to_python(without_gil([&] { return image::reduced_by_means(picture, divisor); }));
  });
  module.def(
      "imencode",
      [](const std::string& format, nb::handle object, const nb::tuple& given) {
        const image::EncodeOptions options = encode_options(given);
        Array picture = picture_of(object);
        const std::vector<uint8_t> encoded = without_gil([&] { return image::imencode(format, picture, options); });
        return nb::bytes(reinterpret_cast<const char*>(encoded.data()), encoded.size());
      },
      nb::arg("format"), nb::arg("picture").none(), nb::arg("options"));
  module.def(
      "imwrite",
      [](const nb::bytes& path, nb::handle object, const nb::tuple& given) {
        const image::EncodeOptions options = encode_options(given);
        Array picture = picture_of(object);
        const std::string name = file_name(path);
        GilRelease release;
        image::imwrite(name, picture, options);
      },
      nb::arg("path"), nb::arg("picture").none(), nb::arg("options"));
  module.def("write_bytes", [](const nb::bytes& path, const nb::bytes& data) {
    const std::string name = file_name(path);
    const BufferBytes bytes(data);
    GilRelease release;
    image::write_file("imwrite", name, bytes.span());
  });
}

}  // namespace iruka::python
