// Filters of pictures; iruka._image gives them names and defaults.
#include <nanobind/stl/string.h>

#include "iruka/device.h"
#include "iruka/picture_filters.h"
#include "iruka/picture_regions.h"
#include "picture_arguments.h"

namespace iruka::python {
namespace {

using image::PictureFilter;

/// (mode, value)
image::Beyond to_beyond(const nb::tuple& fields, size_t first) {
  return {.border = to_border(fields[first]), .value = to_numbers(fields[first + 1], "value")};
}
std::optional<image::Anchor> to_anchor(nb::handle object) {
  if (object.is_none()) return {};
  const Dims anchor = to_dims(object, "anchor");
  if (anchor.size() != 2) throw ValueError("anchor must be (y, x), not " + to_string(anchor));
  return image::Anchor{anchor[0], anchor[1]};
}
std::optional<Dtype> to_optional_dtype(nb::handle object) {
  if (object.is_none()) return {};
  return to_dtype(object);
}
/// The numbers of an array of some axes, whose shape they are given.
std::vector<double> to_weights(nb::handle object, const char* what, size_t axes, Dims& shape) {
  const Array given = as_array(object, cpu());
  if (static_cast<size_t>(given.ndim()) != axes)
    throw ShapeError(std::string(what) + " must have " + std::to_string(axes) + (axes == 1 ? " axis" : " axes") +
                     ", not shape " + to_string(given.shape()));
  if (is_complex(given.dtype())) throw TypeError(std::string(what) + " must be real, not " + name(given.dtype()));
  shape = given.shape();
  return given.astype(Dtype::float64).to_vector<double>();
}
std::vector<double> to_line(nb::handle object, const char* what) {
  Dims shape;
  return to_weights(object, what, 1, shape);
}

/// A filter as iruka._image passes it: a tuple of the name and all fields.
PictureFilter to_filter(const nb::tuple& fields) {
  const std::string kind = nb::cast<std::string>(fields[0]);
  if (kind == "correlation") {
    Dims shape;
    image::Correlation made;
    made.weights = to_weights(fields[1], "filter2d: kernel", 2, shape);
    made.height = shape[0];
    made.width = shape[1];
    made.anchor = to_anchor(fields[2]);
    made.dtype = to_optional_dtype(fields[3]);
    made.beyond = to_beyond(fields, 4);
    return made;
  }
  if (kind == "separable")
    return image::Separable{.column = to_line(fields[1], "separable_filter: column"),
                            .row = to_line(fields[2], "separable_filter: row"),
                            .anchor = to_anchor(fields[3]),
                            .dtype = to_optional_dtype(fields[4]),
                            .beyond = to_beyond(fields, 5)};
  if (kind == "gaussian")
    return image::Gaussian{.sigma_y = to_double(fields[1], "sigma"),
                           .sigma_x = to_double(fields[2], "sigma"),
                           .height = to_int64(fields[3], "size"),
                           .width = to_int64(fields[4], "size"),
                           .beyond = to_beyond(fields, 5)};
  if (kind == "box")
    return image::Box{.height = to_int64(fields[1], "size"),
                      .width = to_int64(fields[2], "size"),
                      .anchor = to_anchor(fields[3]),
                      .beyond = to_beyond(fields, 4)};
  if (kind == "median") return image::Median{.size = to_int64(fields[1], "size"), .beyond = to_beyond(fields, 2)};
  if (kind == "bilateral")
    return image::Bilateral{.size = to_int64(fields[1], "size"),
                            .sigma_color = to_double(fields[2], "sigma_color"),
                            .sigma_space = to_double(fields[3], "sigma_space"),
                            .beyond = to_beyond(fields, 4)};
  if (kind == "morphology") {
    using Operation = image::Morphology::Operation;
    Dims shape;
    image::Morphology made;
    made.operation = chosen<Operation>(fields[1], "operation",
                                       {{"erode", Operation::erode},
                                        {"dilate", Operation::dilate},
                                        {"open", Operation::open},
                                        {"close", Operation::close},
                                        {"gradient", Operation::gradient},
                                        {"top_hat", Operation::top_hat},
                                        {"black_hat", Operation::black_hat}});
    PyObject* const element = nb::handle(fields[2]).ptr();
    if (PyTuple_Check(element) && PyTuple_Size(element) == 2 && !PyTuple_Check(PyTuple_GetItem(element, 0))) {
      shape = to_dims(fields[2], "size");
    } else {
      for (const double one : to_weights(fields[2], "element", 2, shape)) made.element.push_back(one != 0);
    }
    made.height = shape[0];
    made.width = shape[1];
    made.anchor = to_anchor(fields[3]);
    made.iterations = to_int64(fields[4], "iterations");
    if (!fields[6].is_none() || to_border(fields[5]) != image::Border::constant)
      made.beyond =
          image::Beyond{.border = to_border(fields[5]),
                        .value = fields[6].is_none() ? std::vector<double>{0} : to_numbers(fields[6], "value")};
    return made;
  }
  using Kind = image::Derivative::Kind;
  return image::Derivative{
      .kind = chosen<Kind>(fields[0], "filter",
                           {{"sobel", Kind::sobel}, {"scharr", Kind::scharr}, {"laplacian", Kind::laplacian}}),
      .order_y = to_int64(fields[1], "dy"),
      .order_x = to_int64(fields[2], "dx"),
      .size = to_int64(fields[3], "size"),
      .dtype = to_optional_dtype(fields[4]),
      .beyond = to_beyond(fields, 5)};
}

nb::object filtered(const PictureFilter& filter, nb::handle picture, nb::handle layout_name, nb::handle out) {
  const image::Layout layout = to_layout(layout_name);
  return apply_to_pictures(
      picture, out,
      [&](const Array& one) { return std::pair(one.shape(), image::filtered_dtype(filter, one.dtype())); },
      [&](const std::vector<Array>& pictures, const std::vector<Array>& outs) {
        return image::filtered(pictures, filter, layout, outs);
      });
}

}  // namespace

void bind_filters(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_filters", "Filters of pictures.");
  nb::class_<PictureFilter>(module, "Filter")
      .def("__call__", &filtered, nb::arg("picture"), nb::arg("layout"), nb::arg("out").none());
  module.def("filter", &to_filter);
  module.def("distance_transform", [](nb::handle picture, nb::handle metric) {
    using image::Metric;
    const Array given = array_like(picture);
    const Metric wanted = chosen<Metric>(
        metric, "metric",
        {{"euclidean", Metric::euclidean}, {"cityblock", Metric::cityblock}, {"chessboard", Metric::chessboard}});
    return to_python(without_gil([&] { return image::distance_transform(given, wanted); }));
  });
  module.def("connected_components", [](nb::handle picture, nb::handle connectivity, bool has_statistics) {
    const Array given = array_like(picture);
    const int64_t neighbours = to_int64(connectivity, "connected_components: connectivity");
    const image::ComponentOptions options{.connectivity = neighbours == 4   ? 4
                                                          : neighbours == 8 ? 8
                                                                            : -1,
                                          .has_statistics = has_statistics};
    if (options.connectivity < 0)
      throw ValueError("connected_components: connectivity must be 4 or 8, not " + std::to_string(neighbours));
    image::Components made = without_gil([&] { return image::connected_components(given, options); });
    nb::list fields;
    fields.append(to_python(std::move(made.labels)));
    fields.append(nb::int_(made.count));
    for (Array* each : {&made.areas, &made.boxes, &made.centroids})
      fields.append(has_statistics ? to_python(std::move(*each)) : nb::object(nb::none()));
    return nb::tuple(fields);
  });
  module.def("block_view", [](nb::handle array, nb::handle block, nb::handle value) {
    const Array given = as_array(array);
    const Dims sizes = to_dims(block, "block_reduce: block_size");
    Scalar constant;
    if (!to_scalar(value.ptr(), constant))
      throw TypeError("block_reduce: cval must be a number, not " + describe(value.type()));
    return to_python(without_gil([&] { return image::block_view(given, sizes, constant); }));
  });
  module.def("structuring_element", [](nb::handle shape, nb::handle height, nb::handle width) {
    using Shape = image::ElementShape;
    const int64_t rows = to_int64(height, "structuring_element: size"),
                  columns = to_int64(width, "structuring_element: size");
    const std::vector<uint8_t> made = image::structuring_element(
        chosen<Shape>(shape, "shape",
                      {{"rectangle", Shape::rectangle}, {"cross", Shape::cross}, {"ellipse", Shape::ellipse}}),
        rows, columns);
    return to_python(Array::from(std::span(made), {rows, columns}));
  });
}

}  // namespace iruka::python
