// Statistics and equalisation of pictures; iruka._image gives them defaults.
#include "iruka/picture_statistics.h"

#include "image/outputs.h"
#include "interop.h"
#include "picture_arguments.h"

namespace iruka::python {

namespace {

/// Calls `function(result, picture)` for each picture. Results have the pictures' shape and dtype.
template <class Function>
nb::object for_each_picture(nb::handle picture, nb::handle out, Function function) {
  return apply_to_pictures(
      picture, out, [](const Array& one) { return std::pair(one.shape(), one.dtype()); },
      [&](const std::vector<Array>& pictures, std::vector<Array> outs) {
        if (!outs.empty() && outs.size() != pictures.size())
          throw ValueError(std::to_string(outs.size()) + " arrays to fill for " + std::to_string(pictures.size()) +
                           " pictures");
        outs.resize(pictures.size());
        const std::vector<Array> sources = image::apart_from(outs, pictures);
        for (size_t k = 0; k < sources.size(); ++k) {
          if (!outs[k].valid()) outs[k] = Array::empty(sources[k].shape(), sources[k].dtype(), sources[k].device());
          function(outs[k], sources[k]);
        }
        return outs;
      });
}

nb::object equalize(nb::handle picture, nb::handle layout, nb::handle out) {
  const image::Layout order = to_layout(layout);
  return for_each_picture(picture, out,
                          [&](const Array& result, const Array& one) { image::equalize_into(result, one, order); });
}

/// tiles: (rows, columns)
nb::object clahe(nb::handle picture, nb::handle clip_limit, const nb::tuple& tiles, nb::handle layout, nb::handle out) {
  const image::Clahe options{.clip_limit = to_double(clip_limit, "clip_limit"),
                             .rows = to_int64(tiles[0], "tiles"),
                             .columns = to_int64(tiles[1], "tiles")};
  const image::Layout order = to_layout(layout);
  return for_each_picture(
      picture, out, [&](const Array& result, const Array& one) { image::clahe_into(result, one, options, order); });
}

nb::object histogram(nb::handle picture, nb::handle bins, nb::handle range, nb::handle layout) {
  const Array source = array_like(picture);
  std::optional<int64_t> count;
  std::optional<std::pair<double, double>> ends;
  if (!bins.is_none()) count = to_int64(bins, "bins");
  if (!range.is_none()) ends = std::pair{to_double(range[0], "range"), to_double(range[1], "range")};
  const image::Layout order = to_layout(layout);
  return to_python(without_gil([&] { return image::histogram(source, count, ends, order); }));
}

nb::tuple channel_moments(nb::handle picture, nb::handle layout) {
  const Array source = array_like(picture);
  const image::Layout order = to_layout(layout);
  image::ChannelMoments made = without_gil([&] { return image::channel_moments(source, order); });
  return nb::make_tuple(to_python(std::move(made.mean)), to_python(std::move(made.deviation)));
}

std::optional<double> optional_number(nb::handle object, const char* what) {
  if (object.is_none()) return std::nullopt;
  return to_double(object, what);
}

double psnr(nb::handle a, nb::handle b, nb::handle range) {
  const Array first = array_like(a), second = array_like(b);
  const std::optional<double> most = optional_number(range, "data_range");
  return without_gil([&] { return image::psnr(first, second, most); });
}

/// options: (is_gaussian, sigma, window, data_range, is_sample_covariance)
double ssim(nb::handle a, nb::handle b, const nb::tuple& options, nb::handle layout) {
  const Array first = array_like(a), second = array_like(b);
  const image::Ssim given{.is_gaussian = nb::cast<bool>(options[0]),
                          .sigma = to_double(options[1], "sigma"),
                          .window = to_int64(options[2], "window"),
                          .range = optional_number(options[3], "data_range"),
                          .is_sample_covariance = nb::cast<bool>(options[4])};
  const image::Layout order = to_layout(layout);
  return without_gil([&] { return image::ssim(first, second, given, order); });
}

}  // namespace

void bind_picture_statistics(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_color", "Statistics and equalisation of pictures.");
  module.def("equalize", &equalize, nb::arg("picture"), nb::arg("layout"), nb::arg("out").none());
  module.def("clahe", &clahe, nb::arg("picture"), nb::arg("clip_limit"), nb::arg("tiles"), nb::arg("layout"),
             nb::arg("out").none());
  module.def("histogram", &histogram, nb::arg("picture"), nb::arg("bins").none(), nb::arg("range").none(),
             nb::arg("layout"));
  module.def("channel_moments", &channel_moments);
  module.def("psnr", &psnr, nb::arg("a"), nb::arg("b"), nb::arg("data_range").none());
  module.def("ssim", &ssim);
}

}  // namespace iruka::python
