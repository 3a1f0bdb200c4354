// Pictures, their layouts and borders as Python's functions take them.
#pragma once

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert.h"
#include "interop.h"
#include "iruka/image.h"
#include "iruka/picture_geometry.h"

namespace iruka::python {

template <class T>
using Names = std::initializer_list<std::pair<std::string_view, T>>;

/// The value of a name. Raises ValueError that lists all names.
template <class T>
T chosen(nb::handle object, const char* what, Names<T> names) {
  const std::string given = to_text(object, what);
  std::string list;
  for (const auto& [name, value] : names) {
    if (given == name) return value;
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  throw ValueError(std::string(what) + " must be one of " + list + ", not '" + given + "'");
}

inline image::Layout to_layout(nb::handle object) {
  return chosen<image::Layout>(object, "layout", {{"HWC", image::Layout::hwc}, {"CHW", image::Layout::chw}});
}
inline image::Border to_border(nb::handle object, const char* what = "mode") {
  using image::Border;
  return chosen<Border>(object, what,
                        {{"constant", Border::constant},
                         {"edge", Border::edge},
                         {"reflect", Border::reflect},
                         {"symmetric", Border::symmetric},
                         {"wrap", Border::wrap}});
}
inline std::vector<double> to_numbers(nb::handle object, const char* what) {
  std::vector<double> numbers;
  if (!PySequence_Check(object.ptr()) && !PyObject_HasAttrString(object.ptr(), "__len__"))
    return {to_double(object, what)};
  for (nb::handle number : object) numbers.push_back(to_double(number, what));
  return numbers;
}

/// The options as iruka.image passes them: (mode, max_pixels, apply_orientation, dtype, roi, at_least, device, chain,
/// reducing_gap).
image::DecodeOptions decode_options(const nb::tuple& given);
/// A stage as iruka._image passes it: a tuple of the name and all fields.
image::Stage to_stage(const nb::tuple& fields);
/// The Python exception that `error` would be.
nb::object exception_object(const std::exception_ptr& error);

/// The pictures of an array of four axes.
inline std::vector<Array> pictures_of(const Array& batch) {
  std::vector<Array> pictures;
  pictures.reserve(static_cast<size_t>(batch.shape(0)));
  for (int64_t k = 0; k < batch.shape(0); ++k) pictures.push_back(batch.at(k));
  return pictures;
}
inline std::optional<Array> output_of(nb::handle out) {
  std::optional<Array> output = given_output(out);
  if (!output && !out.is_none()) throw TypeError("out must be an array, not " + describe(out.type()));
  return output;
}
inline Array array_like(nb::handle object) {
  if (!is_array_like(object.ptr())) throw TypeError("a picture is an array, not " + describe(object.type()));
  return as_array(object);
}
inline bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

/// Arrays to fill for `count` pictures: those of a list, or the parts of one array; none for None.
inline std::vector<Array> outputs_of(nb::handle out, size_t count) {
  std::vector<Array> outs;
  if (out.is_none()) return outs;
  if (is_list(out)) {
    for (nb::handle each : out) outs.push_back(output_of(each).value_or(Array()));
    return outs;
  }
  const Array batch = *output_of(out);
  if (batch.ndim() < 1 || batch.shape(0) != static_cast<int64_t>(count))
    throw ShapeError("out must have " + std::to_string(count) + " pictures along its first axis, not shape " +
                     to_string(batch.shape()));
  return pictures_of(batch);
}
/// The results of many pictures as a list, or `out` where it has a place for each; a None of its is replaced.
inline nb::object results_of(std::vector<Array>&& results, nb::handle out) {
  std::vector<nb::object> given;
  if (!out.is_none() && is_list(out)) {
    for (nb::handle each : out) given.push_back(nb::borrow(each));
  }
  if (!out.is_none() && std::ranges::none_of(given, &nb::object::is_none)) return nb::borrow(out);
  given.resize(results.size());
  nb::list made;
  for (size_t k = 0; k < results.size(); ++k) {
    const bool is_given = given[k].is_valid() && !given[k].is_none();
    made.append(is_given ? std::move(given[k]) : to_python(std::move(results[k])));
  }
  return made;
}

/// A picture, those of a list, or a batch of four axes whose results are in one array. `out` is None, or has a place
/// for each result. apply(pictures, outs) gives the results, in the arrays of `outs` where there are some;
/// result_of(picture) the shape and dtype of one.
template <class ResultOf, class Apply>
nb::object apply_to_pictures(nb::handle picture, nb::handle out, ResultOf result_of, Apply apply) {
  const auto run = [&](const std::vector<Array>& pictures, const std::vector<Array>& outs) {
    return without_gil([&] { return apply(pictures, outs); });
  };
  if (is_list(picture)) {
    std::vector<Array> pictures;
    for (nb::handle each : picture) pictures.push_back(array_like(each));
    return results_of(run(pictures, outputs_of(out, pictures.size())), out);
  }
  const Array source = array_like(picture);
  if (source.ndim() != 4) {
    std::vector<Array> made = run({source}, {output_of(out).value_or(Array())});
    return out.is_none() ? to_python(std::move(made.front())) : nb::borrow(out);
  }
  const std::vector<Array> pictures = pictures_of(source);
  if (pictures.empty()) throw ShapeError("a batch of shape " + to_string(source.shape()) + " has no pictures");
  if (!out.is_none()) return results_of(run(pictures, outputs_of(out, pictures.size())), out);
  return to_python(without_gil([&] {
    const std::pair<Dims, Dtype> result = result_of(pictures.front());
    Dims all{source.shape(0)};
    for (const int64_t extent : result.first) all.push_back(extent);
    const Array made = Array::empty(all, result.second, source.device());
    apply(pictures, pictures_of(made));
    return made;
  }));
}

}  // namespace iruka::python
