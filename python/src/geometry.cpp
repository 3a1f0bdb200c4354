// Geometry of pictures; iruka._image gives stages names and defaults.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "image/geometry/run.h"
#include "interop.h"
#include "iruka/device.h"
#include "iruka/picture_geometry.h"
#include "picture_arguments.h"

namespace iruka::python {

namespace {

image::Filter to_filter(nb::handle object) {
  using image::Filter;
  return chosen<Filter>(object, "filter",
                        {{"nearest", Filter::nearest},
                         {"linear", Filter::linear},
                         {"triangular", Filter::triangular},
                         {"area", Filter::area},
                         {"cubic", Filter::cubic},
                         {"lanczos3", Filter::lanczos3},
                         {"lanczos4", Filter::lanczos4},
                         {"gaussian", Filter::gaussian}});
}
image::Stage resize_stage(const nb::tuple& fields) {
  image::Resize stage{.height = to_int64(fields[1], "height"), .width = to_int64(fields[2], "width")};
  stage.filter = to_filter(fields[3]);
  stage.fit = chosen<image::Fit>(fields[4], "fit",
                                 {{"stretch", image::Fit::stretch},
                                  {"not_larger", image::Fit::not_larger},
                                  {"not_smaller", image::Fit::not_smaller}});
  if (!fields[5].is_none()) stage.antialias = nb::cast<bool>(nb::bool_(nb::handle(fields[5])));
  stage.convention = chosen<image::Convention>(
      fields[6], "convention", {{"pillow", image::Convention::pillow}, {"opencv", image::Convention::opencv}});
  if (!fields[7].is_none()) {
    const std::vector<double> roi = to_numbers(fields[7], "roi");
    if (roi.size() != 4)
      throw ValueError("resize: roi must be (y, x, height, width), not " + std::to_string(roi.size()) + " numbers");
    stage.roi = {roi[0], roi[1], roi[2], roi[3]};
  }
  return stage;
}
image::Stage crop_stage(const nb::tuple& fields) {
  image::Crop stage{.height = to_int64(fields[1], "height"), .width = to_int64(fields[2], "width")};
  if (!fields[3].is_none()) stage.y = to_int64(fields[3], "y");
  if (!fields[4].is_none()) stage.x = to_int64(fields[4], "x");
  return stage;
}
image::Stage pad_stage(const nb::tuple& fields) {
  return image::Pad{.top = to_int64(fields[1], "top"),
                    .bottom = to_int64(fields[2], "bottom"),
                    .left = to_int64(fields[3], "left"),
                    .right = to_int64(fields[4], "right"),
                    .border = to_border(fields[5]),
                    .value = to_numbers(fields[6], "value")};
}
image::Stage warp_stage(const nb::tuple& fields) {
  image::Warp stage{.height = to_int64(fields[1], "height"), .width = to_int64(fields[2], "width")};
  const std::vector<double> matrix = to_numbers(fields[3], "matrix");
  if (matrix.size() != stage.matrix.size()) throw ValueError("warp: a matrix of the wrong size");
  std::copy(matrix.begin(), matrix.end(), stage.matrix.begin());
  stage.filter = to_filter(fields[4]);
  stage.border = to_border(fields[5]);
  stage.value = to_numbers(fields[6], "value");
  return stage;
}

image::Stage rotate_stage(const nb::tuple& fields) {
  return image::Rotate{.degrees = to_double(fields[1], "angle"),
                       .expands = nb::cast<bool>(nb::bool_(nb::handle(fields[2]))),
                       .filter = to_filter(fields[3]),
                       .border = to_border(fields[4]),
                       .value = to_numbers(fields[5], "value")};
}

image::ColorSpace to_space(nb::handle object, const char* what) {
  using image::ColorSpace;
  return chosen<ColorSpace>(object, what,
                            {{"rgb", ColorSpace::rgb},
                             {"bgr", ColorSpace::bgr},
                             {"rgba", ColorSpace::rgba},
                             {"gray", ColorSpace::gray},
                             {"grey", ColorSpace::gray},
                             {"hsv", ColorSpace::hsv},
                             {"lab", ColorSpace::lab},
                             {"ycbcr", ColorSpace::ycbcr}});
}
/// A stage of colours, or nothing.
std::optional<image::Stage> color_stage(const std::string& kind, const nb::tuple& fields) {
  const auto number = [&](size_t k, const char* what) { return to_double(fields[k], what); };
  if (kind == "convert_color")
    return image::ConvertColor{to_space(fields[1], "convert_color: source"),
                               to_space(fields[2], "convert_color: target")};
  if (kind == "brightness") return image::Brightness{number(1, "factor")};
  if (kind == "contrast") {
    image::Contrast stage{.factor = number(1, "factor")};
    if (!fields[2].is_none()) stage.center = number(2, "center");
    return stage;
  }
  if (kind == "saturation") return image::Saturation{number(1, "factor")};
  if (kind == "hue") return image::Hue{number(1, "degrees")};
  if (kind == "gamma") return image::Gamma{number(1, "gamma"), number(2, "gain")};
  if (kind == "color_matrix")
    return image::ColorMatrix{.matrix = to_numbers(fields[1], "matrix"),
                              .outputs = to_int64(fields[2], "outputs"),
                              .offset = to_numbers(fields[3], "offset")};
  if (kind == "lookup") return image::Lookup{as_array(fields[1])};
  return std::nullopt;
}

}  // namespace

image::Stage to_stage(const nb::tuple& fields) {
  const auto is_set = [&](size_t k) { return nb::cast<bool>(nb::bool_(nb::handle(fields[k]))); };
  const std::string kind = nb::cast<std::string>(fields[0]);
  if (const std::optional<image::Stage> stage = color_stage(kind, fields)) return *stage;
  if (kind == "resize") return resize_stage(fields);
  if (kind == "crop") return crop_stage(fields);
  if (kind == "pad") return pad_stage(fields);
  if (kind == "flip") return image::Flip{.horizontal = is_set(1), .vertical = is_set(2)};
  if (kind == "transpose") return image::Transpose{};
  if (kind == "normalize")
    return image::Normalize{.mean = to_numbers(fields[1], "mean"), .deviation = to_numbers(fields[2], "std")};
  if (kind == "cast") return image::Cast{to_dtype(fields[1])};
  if (kind == "layout") return image::ToLayout{to_layout(fields[1])};
  if (kind == "pyramid_down") return image::PyramidDown{};
  if (kind == "rotate") return rotate_stage(fields);
  return warp_stage(fields);
}

namespace {

nb::object apply_chains(const std::vector<image::Chain>& chains, nb::handle pictures, nb::handle out) {
  return apply_to_pictures(
      pictures, out, [&](const Array& one) { return chains.front().result(one.shape(), one.dtype()); },
      [&](const std::vector<Array>& sources, const std::vector<Array>& outs) {
        return image::apply_chains(chains, sources, outs);
      });
}

/// options: (filter, mode, value)
nb::object remap(nb::handle picture, nb::handle map_y, nb::handle map_x, const nb::tuple& options, nb::handle layout) {
  const Array source = array_like(picture), y = array_like(map_y), x = array_like(map_x);
  const image::Remap given{
      .filter = to_filter(options[0]), .border = to_border(options[1]), .value = to_numbers(options[2], "value")};
  const image::Layout order = to_layout(layout);
  return to_python(without_gil([&] { return image::remap(source, y, x, given, order); }));
}

std::vector<image::Chain> chains_of(const nb::list& list) {
  std::vector<image::Chain> chains;
  for (nb::handle each : list) chains.push_back(nb::cast<const image::Chain&>(each));
  return chains;
}

}  // namespace

void bind_geometry(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_geometry", "Chains of picture operations.");
  nb::class_<image::Chain>(module, "Chain")
      .def(
          "__call__",
          [](const image::Chain& chain, nb::handle picture, nb::handle out) {
            return apply_chains({chain}, picture, out);
          },
          nb::arg("picture"), nb::arg("out").none())
      .def("result",
           [](const image::Chain& chain, nb::handle shape, nb::handle dtype) {
             const auto [made, type] = chain.result(to_dims(shape, "shape"), to_dtype(dtype));
             return nb::make_tuple(from_dims(made), dtype_object(type));
           })
      .def("passes", [](const image::Chain& chain, nb::handle shape, nb::handle dtype) {
        return chain.passes(to_dims(shape, "shape"), to_dtype(dtype));
      });
  module.def("chain", [](const nb::list& stages, nb::handle layout) {
    std::vector<image::Stage> made;
    for (nb::handle stage : stages) made.push_back(to_stage(nb::cast<nb::tuple>(stage)));
    return image::Chain(std::move(made), to_layout(layout));
  });
  module.def(
      "apply",
      [](const nb::list& chains, const nb::list& pictures, nb::handle out) {
        return apply_chains(chains_of(chains), pictures, out);
      },
      nb::arg("chains"), nb::arg("pictures"), nb::arg("out").none());
  module.def("remap", &remap);
  module.def("prefer_kernels", &image::prefer_kernels);
}

}  // namespace iruka::python
