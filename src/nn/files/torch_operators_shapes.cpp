// Operators that move elements: other shapes, joined, split, sliced, padded, gathered, resized.
#include <algorithm>
#include <cmath>

#include "iruka/device.h"
#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

// Other shapes.

Names view(TorchCall& call) {
  const char* const name = call.has("shape") ? "shape" : "size";
  return {
      call.emit("Reshape", {call.tensor("self").value, call.constant(call.sizes(name))}, {{"allowzero", int64_t{1}}})};
}

/// x with the axes from `begin` to before `end` replaced by others, of which one may be -1.
std::string reshaped_part(TorchCall& call, const TorchTensor& x, int begin, int end, std::vector<TorchSize> middle) {
  bool is_known = true;
  for (int axis = end; axis < x.ndim(); ++axis) is_known &= x.extent(axis) >= 0;
  std::vector<TorchSize> shape(static_cast<size_t>(begin));  // 0 keeps an extent
  shape.insert(shape.end(), middle.begin(), middle.end());
  if (is_known) {
    for (int axis = end; axis < x.ndim(); ++axis) shape.push_back({x.extent(axis), {}});
    return call.emit("Reshape", {x.value, call.constant(shape)});
  }
  const std::string behind = call.emit("Shape", {x.value}, {{"start", int64_t{end}}});
  return call.emit("Reshape", {x.value, call.emit("Concat", {call.constant(shape), behind}, {{"axis", int64_t{0}}})});
}

Names flatten(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int start = call.axis("start_dim", x.ndim(), 0), end = call.axis("end_dim", x.ndim(), -1);
  if (start > end) call.fail("start_dim lies behind end_dim");
  if (x.ndim() == 0) return {call.reshaped(x.value, {1})};
  return {start == end ? x.value : reshaped_part(call, x, start, end + 1, {TorchSize{-1, {}}})};
}

Names unflatten(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int axis = call.axis("dim", x.ndim());
  if (x.ndim() == 0) call.fail("the input has no axes");
  return {reshaped_part(call, x, axis, axis + 1, call.sizes("sizes"))};
}

Names permute(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers order = x.ndim() == 0 ? Integers() : call.axes("dims", x.ndim());
  return {x.ndim() == 0 ? x.value : call.transposed(x.value, order)};
}
std::string swapped(TorchCall& call, const TorchTensor& x, int a, int b) {
  if (a == b) return x.value;
  Integers order;
  for (int axis = 0; axis < x.ndim(); ++axis) order.push_back(axis == a ? b : axis == b ? a : axis);
  return call.transposed(x.value, order);
}
Names transpose(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const bool has_axes = call.has("axis0");
  return {swapped(call, x, call.axis(has_axes ? "axis0" : "dim0", x.ndim()),
                  call.axis(has_axes ? "axis1" : "dim1", x.ndim()))};
}
/// Axes `source` at places `destination`, the others in their order.
Names movedim(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers from = call.integers("source"), to = call.integers("destination");
  if (from.size() != to.size() || x.ndim() == 0) call.fail("source and destination do not fit");
  Integers order(static_cast<size_t>(x.ndim()), -1);
  std::vector<bool> is_moved(order.size());
  for (size_t k = 0; k < from.size(); ++k) {
    const int axis = call.checked_axis(from[k], x.ndim());
    order[static_cast<size_t>(call.checked_axis(to[k], x.ndim()))] = axis;
    is_moved[static_cast<size_t>(axis)] = true;
  }
  int next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (next < x.ndim() && is_moved[static_cast<size_t>(next)]) ++next;
    axis = next++;
  }
  return {call.transposed(x.value, order)};
}
Names t(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  return {x.ndim() < 2 ? x.value : swapped(call, x, 0, 1)};
}

Names unsqueeze(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  return {call.unsqueezed(x.value, {call.axis("dim", x.ndim() + 1)})};
}
/// Axes of other extents than 1 stay. An extent that is known in a run alone is another one.
Names squeeze(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  Integers axes;
  for (int64_t axis : call.axes("dim", x.ndim())) {
    if (axis < x.ndim() && x.extent(static_cast<int>(axis)) == 1) axes.push_back(axis);
  }
  return {call.squeezed(x.value, axes)};
}
/// An extent of -1 stays.
Names expand(TorchCall& call) {
  std::vector<TorchSize> sizes = call.sizes("size");
  for (TorchSize& size : sizes) {
    if (size.name.empty() && size.value == -1) size.value = 1;
  }
  return {call.emit("Expand", {call.tensor("self").value, call.constant(sizes)})};
}
Names view_as(TorchCall& call) {
  return {call.emit("Reshape", {call.tensor("self").value, call.emit("Shape", {call.tensor("other").value})},
                    {{"allowzero", int64_t{1}}})};
}
Names expand_as(TorchCall& call) {
  return {call.emit("Expand", {call.tensor("self").value, call.emit("Shape", {call.tensor("other").value})})};
}
Names repeat(TorchCall& call) {
  const char* const name = call.has("dims") ? "dims" : "repeats";
  return {call.emit("Tile", {call.tensor("self").value, call.constant(call.sizes(name))})};
}

/// Each element along an axis as often one after the other.
Names repeat_interleave(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int axis = call.axis("dim", x.ndim());
  const int64_t count = call.integer("repeats");
  if (x.ndim() == 0) call.fail("the input has no axes");
  call.ignore("output_size");
  Integers repeats(static_cast<size_t>(x.ndim()) + 1, 1);
  repeats[static_cast<size_t>(axis) + 1] = count;
  TorchTensor wide = x;
  wide.shape.insert(wide.shape.begin() + axis + 1, {count, {}});
  wide.value = call.emit("Tile", {call.unsqueezed(x.value, {axis + 1}), call.constant(repeats)});
  return {reshaped_part(call, wide, axis, axis + 2, {TorchSize{-1, {}}})};
}

/// One of a symbolic shape's extents.
Names sym_size(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim());
  return {call.squeezed(call.emit("Shape", {x.value}, {{"start", axis}, {"end", axis + 1}}), {0})};
}
Names sym_numel(TorchCall& call) { return {call.emit("Size", {call.tensor("self").value})}; }

// Joined and split.

/// Empty arrays of one axis join any others.
Names cat(TorchCall& call) {
  const TorchTensor& result = call.result();
  Names parts;
  for (const auto& x : call.tensors("tensors")) {
    if (x.ndim() == 1 && result.ndim() != 1 && x.extent(0) == 0) continue;
    parts.push_back(call.cast(x.value, x.dtype, result.dtype));
  }
  if (parts.empty()) call.fail("there is nothing to join");
  return {call.emit("Concat", parts, {{"axis", int64_t{call.axis("dim", result.ndim(), 0)}}})};
}
Names stack(TorchCall& call) {
  const TorchTensor& result = call.result();
  const int64_t axis = call.axis("dim", result.ndim(), 0);
  Names parts;
  for (const auto& x : call.tensors("tensors")) {
    parts.push_back(call.unsqueezed(call.cast(x.value, x.dtype, result.dtype), {axis}));
  }
  if (parts.empty()) call.fail("there is nothing to join");
  return {call.emit("Concat", parts, {{"axis", axis}})};
}

/// Parts of the extents that the program says, or equal ones.
Names split(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int axis = call.axis("dim", x.ndim(), 0);
  for (const char* name : {"split_size", "split_sizes", "chunks"}) call.ignore(name);
  Integers extents;
  bool are_known = true;
  for (size_t k = 0; k < call.result_count(); ++k) {
    if (x.ndim() == 0 || call.result(k).ndim() != x.ndim())
      call.fail("the parts must have the axes of the whole, one at least");
    extents.push_back(call.result(k).extent(axis));
    are_known &= extents.back() >= 0;
  }
  if (!are_known && call.name() != "chunk") call.fail("the parts' extents must be known; export with fixed ones");
  Names inputs{x.value};
  if (are_known) inputs.push_back(call.constant(extents));
  return call.emit(call.result_count(), "Split", inputs, {{"axis", int64_t{axis}}});
}
Names unbind(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim(), 0);
  Names parts = call.emit(call.result_count(), "Split", {x.value}, {{"axis", axis}});
  for (std::string& part : parts) part = call.squeezed(part, {axis});
  return parts;
}

// Parts.

Names slice(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim(), 0);
  const std::vector<TorchSize> start{call.size("start", 0)}, end{call.size("end", INT64_MAX)};
  return {call.emit("Slice", {x.value, call.constant(start), call.constant(end), call.constant(Integers{axis}),
                              call.constant(Integers{call.integer("step", 1)})})};
}
Names narrow(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim()), start = call.integer("start"), length = call.integer("length");
  int64_t end = 0;
  if (start < 0 || length < 0 || __builtin_add_overflow(start, length, &end)) call.fail("a part lies outside the axis");
  return {call.emit(
      "Slice", {x.value, call.constant(Integers{start}), call.constant(Integers{end}), call.constant(Integers{axis})})};
}
Names select(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim());
  return {call.emit("Gather", {x.value, call.constant(call.size("index"))}, {{"axis", axis}})};
}
Names index_select(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  return {call.emit("Gather", {x.value, call.tensor("index").value}, {{"axis", int64_t{call.axis("dim", x.ndim())}}})};
}
Names embedding(TorchCall& call) {
  return {call.emit("Gather", {call.tensor("weight").value, call.tensor("indices").value}, {{"axis", int64_t{0}}})};
}
Names gather(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  call.flag("sparse_grad", false);
  return {call.emit("GatherElements", {x.value, call.tensor("index").value},
                    {{"axis", int64_t{call.axis("dim", x.ndim())}}})};
}
/// Indices of several axes, broadcast and joined along a last axis.
std::string joined_indices(TorchCall& call, const std::vector<std::optional<TorchTensor>>& indices,
                           const Integers& axes) {
  Names values;
  for (int64_t axis : axes) {
    const TorchTensor& index = *indices[static_cast<size_t>(axis)];
    values.push_back(call.cast(index.value, index.dtype, Dtype::int64));
  }
  std::string sum = values[0];
  for (size_t k = 1; k < values.size(); ++k) sum = call.emit("Add", {sum, values[k]});
  const std::string shape = call.emit("Shape", {sum});
  for (std::string& value : values) value = call.unsqueezed(call.emit("Expand", {value, shape}), {-1});
  return call.emit("Concat", values, {{"axis", int64_t{-1}}});
}

/// x[indices], NumPy's indexing by arrays of integers: their axes come in the place of the indexed ones where these are
/// neighbours, else first.
Names index(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const auto indices = call.optional_tensors("indices");
  if (std::ssize(indices) > x.ndim()) call.fail("there are more indices than axes");
  Integers indexed, others;
  int ndim = 0;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto k = static_cast<size_t>(axis);
    const bool is_indexed = k < indices.size() && indices[k];
    (is_indexed ? indexed : others).push_back(axis);
    if (!is_indexed) continue;
    if (!is_integer(indices[k]->dtype)) call.fail("indices must be integers; the size of what masks select is unknown");
    ndim = std::max(ndim, indices[k]->ndim());
  }
  if (indexed.empty()) return {x.value};
  if (indexed.size() == 1) {
    return {call.emit("Gather", {x.value, indices[static_cast<size_t>(indexed[0])]->value}, {{"axis", indexed[0]}})};
  }
  Integers order = indexed;
  order.insert(order.end(), others.begin(), others.end());
  const std::string first = call.transposed(x.value, order);
  const std::string y = call.emit("GatherND", {first, joined_indices(call, indices, indexed)});
  const bool are_neighbours = indexed.back() - indexed.front() == std::ssize(indexed) - 1;
  if (!are_neighbours || indexed.front() == 0) return {y};
  Integers back;
  for (int64_t k = 0; k < indexed.front(); ++k) back.push_back(ndim + k);
  for (int64_t k = 0; k < ndim; ++k) back.push_back(k);
  for (int64_t k = indexed.front(); k < std::ssize(others); ++k) back.push_back(ndim + k);
  return {call.transposed(y, back)};
}

/// self with one part of an axis replaced by src.
std::string with_part(TorchCall& call, const TorchTensor& x, const std::string& part, int64_t axis,
                      const TorchSize& begin, const TorchSize& end) {
  const auto cut = [&](const TorchSize& from, const TorchSize& to) {
    return call.emit("Slice", {x.value, call.constant(std::vector{from}), call.constant(std::vector{to}),
                               call.constant(Integers{axis})});
  };
  return call.emit("Concat", {cut({0, {}}, begin), part, cut(end, {INT64_MAX, {}})}, {{"axis", axis}});
}
Names slice_scatter(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int64_t axis = call.axis("dim", x.ndim(), 0);
  if (call.integer("step", 1) != 1) call.fail("a step other than 1 is not known");
  const std::string part = call.operand("src", x.dtype);
  return {with_part(call, x, part, axis, call.size("start", 0), call.size("end", INT64_MAX))};
}
Names select_scatter(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int axis = call.axis("dim", x.ndim());
  int64_t place = call.integer("index");
  if (place < 0 && x.ndim() > 0 && x.extent(axis) >= 0) place += x.extent(axis);
  if (place < 0 || place == INT64_MAX) call.fail("the place " + std::to_string(place) + " is not known");
  const std::string part = call.unsqueezed(call.operand("src", x.dtype), {axis});
  return {with_part(call, x, part, axis, {place, {}}, {place + 1, {}})};
}

/// Elements of src, or a number, written to places along an axis.
Names scatter(TorchCall& call) {
  const TorchTensor x = call.tensor("self"), places = call.tensor("index");
  std::string source;
  if (call.has("src")) {
    const TorchTensor given = call.tensor("src");
    const bool is_same = std::ranges::equal(given.shape, places.shape, {}, &Extent::value, &Extent::value);
    if (!is_same) call.fail("src and index of other shapes are not known");
    source = call.cast(given.value, given.dtype, x.dtype);
  } else {
    source = call.emit("Expand", {call.operand("value", x.dtype), call.emit("Shape", {places.value})});
  }
  const std::string way = call.name() == "scatter_add" ? "add" : "none";
  return {call.emit("ScatterElements", {x.value, places.value, source},
                    {{"axis", int64_t{call.axis("dim", x.ndim())}}, {"reduction", way}})};
}

Names triangle(TorchCall& call) {
  return {call.emit("Trilu",
                    {call.tensor("self").value, call.constant(Scalar(call.integer("diagonal", 0)), Dtype::int64)},
                    {{"upper", int64_t{call.name() == "triu"}}})};
}

/// Reversed along axes.
Names flip(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers axes = call.axes("dims", x.ndim());
  const auto all = [&](int64_t value) { return call.constant(Integers(axes.size(), value)); };
  return {call.emit("Slice", {x.value, all(-1), all(INT64_MIN), call.constant(axes), all(-1)})};
}

/// What leaves an axis at its end comes in at its beginning.
Names roll(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers shifts = call.integers("shifts"), axes = call.integers("dims", Integers());
  if (shifts.size() != axes.size()) call.fail("each shift needs an axis");
  std::string y = x.value;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int axis = call.checked_axis(axes[k], x.ndim());
    const int64_t extent = axis < x.ndim() ? x.extent(axis) : -1;
    if (extent < 1) call.fail("the axis must have a known extent");
    const int64_t begin = ((extent - shifts[k] % extent) % extent + extent) % extent;
    const std::string at = call.constant(Integers{begin}), along = call.constant(Integers{axis});
    const std::string back = call.emit("Slice", {y, at, call.constant(Integers{INT64_MAX}), along});
    const std::string front = call.emit("Slice", {y, call.constant(Integers{0}), at, along});
    y = call.emit("Concat", {back, front}, {{"axis", int64_t{axis}}});
  }
  return {y};
}

// Margins and other resolutions.

/// Margins are pairs, from the last axis on.
Names pad(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const Integers given = call.integers(call.has("pad") ? "pad" : "padding");
  const auto ndim = static_cast<size_t>(x.ndim());
  if (given.size() % 2 != 0 || given.size() / 2 > ndim) {
    call.fail(std::to_string(given.size()) + " margins are not two for each of some of " + std::to_string(ndim) +
              " axes");
  }
  Integers pads(2 * ndim);
  for (size_t k = 0; k < given.size() / 2; ++k) {
    pads[ndim - 1 - k] = given[2 * k];
    pads[2 * ndim - 1 - k] = given[2 * k + 1];
  }
  const std::string own = *call.op() ? call.op() : "constant", mode = call.text("mode", own.c_str());
  const std::map<std::string, std::string> modes = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"replicate", "edge"}, {"circular", "wrap"}};
  if (!modes.contains(mode)) call.fail("the mode '" + mode + "' is not known");
  Names inputs{x.value, call.constant(pads)};
  const Scalar value = call.number("value", Scalar(0));
  if (mode == "constant") inputs.push_back(call.constant(value, x.dtype));
  return {call.emit("Pad", inputs, {{"mode", modes.at(mode)}})};
}

/// Factors of spatial axes, from arguments scale_factors or scales, scales_h, scales_w and scales_d.
std::vector<double> scales_of(TorchCall& call, int rank) {
  if (call.has("scale_factors")) return call.numbers("scale_factors");
  if (call.has("scales")) return {call.number("scales").as_double()};
  std::vector<double> scales;
  for (const char* name : {"scales_d", "scales_h", "scales_w"}) {
    if (call.has(name)) scales.push_back(call.number(name).as_double());
  }
  return std::ssize(scales) == rank ? scales : std::vector<double>();
}

Names upsample(TorchCall& call) {
  const TorchTensor x = call.tensor(call.has("input") ? "input" : "self");
  const std::string_view name = call.name();
  const int rank = x.ndim() - 2;
  if (rank != rank_in(name)) call.fail("an input of " + std::to_string(x.ndim()) + " axes is not known");
  const bool aligns_corners = call.flag("align_corners", false), is_nearest = std::string_view(call.op()) == "nearest";
  const bool is_exact = name.find("exact") != name.npos;
  Attributes attributes{{"mode", std::string(call.op())}, {"cubic_coeff_a", -0.75}};
  attributes["nearest_mode"] = std::string(is_exact ? "round_prefer_ceil" : "floor");
  attributes["coordinate_transformation_mode"] = std::string(is_nearest && !is_exact ? "asymmetric"
                                                             : aligns_corners        ? "align_corners"
                                                                                     : "half_pixel");
  const std::vector<double> scales = scales_of(call, rank);
  Integers axes;
  for (int axis = 2; axis < x.ndim(); ++axis) axes.push_back(axis);
  attributes["axes"] = axes;
  // The result's extents alone decide where corners are aligned.
  if (call.has("output_size") && (scales.empty() || aligns_corners)) {
    return {call.emit("Resize", {x.value, "", "", call.constant(call.sizes("output_size"))}, attributes)};
  }
  call.ignore("output_size");
  if (std::ssize(scales) != rank) call.fail("it lacks the result's size");
  for (double scale : scales) {
    if (!(scale > 0) || !std::isfinite(scale)) call.fail("a factor is " + std::to_string(scale));
  }
  const Array factors = Array::empty({std::ssize(scales)}, Dtype::float64, cpu());
  std::copy(scales.begin(), scales.end(), static_cast<double*>(factors.data()));
  return {call.emit("Resize", {x.value, "", call.constant(factors)}, attributes)};
}

Names pixel_shuffle(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const bool is_back = call.name() == "pixel_unshuffle";
  const int64_t block = call.integer(is_back ? "downscale_factor" : "upscale_factor");
  if (x.ndim() != 3 && x.ndim() != 4) call.fail("an input of " + std::to_string(x.ndim()) + " axes is not known");
  const bool is_batch = x.ndim() == 4;
  const std::string y = call.emit(call.op(), {is_batch ? x.value : call.unsqueezed(x.value, {0})},
                                  {{"blocksize", block}, {"mode", std::string("CRD")}});
  return {is_batch ? y : call.squeezed(y, {0})};
}

constexpr TorchOperator kRows[] = {
    {"T", t, "", true},
    {"_unsafe_index", index},
    {"_unsafe_view", view, "", true},
    {"_upsample_nearest_exact1d", upsample, "nearest"},
    {"_upsample_nearest_exact2d", upsample, "nearest"},
    {"_upsample_nearest_exact3d", upsample, "nearest"},
    {"cat", cat},
    {"chunk", split, "", true},
    {"concat", cat},
    {"constant_pad_nd", pad, "constant"},
    {"embedding", embedding},
    {"expand", expand, "", true},
    {"expand_as", expand_as, "", true},
    {"flatten", flatten, "", true},
    {"flip", flip},
    {"gather", gather},
    {"index", index},
    {"index_select", index_select},
    {"moveaxis", movedim, "", true},
    {"movedim", movedim, "", true},
    {"narrow", narrow, "", true},
    {"pad", pad},
    {"permute", permute, "", true},
    {"pixel_shuffle", pixel_shuffle, "DepthToSpace"},
    {"pixel_unshuffle", pixel_shuffle, "SpaceToDepth"},
    {"reflection_pad1d", pad, "reflect"},
    {"reflection_pad2d", pad, "reflect"},
    {"reflection_pad3d", pad, "reflect"},
    {"repeat", repeat},
    {"repeat_interleave", repeat_interleave},
    {"replication_pad1d", pad, "replicate"},
    {"replication_pad2d", pad, "replicate"},
    {"replication_pad3d", pad, "replicate"},
    {"reshape", view, "", true},
    {"reshape_as", view_as, "", true},
    {"roll", roll},
    {"scatter", scatter},
    {"scatter_add", scatter},
    {"select", select, "", true},
    {"select_scatter", select_scatter},
    {"slice", slice, "", true},
    {"slice_scatter", slice_scatter},
    {"split", split, "", true},
    {"split_with_sizes", split, "", true},
    {"squeeze", squeeze, "", true},
    {"stack", stack},
    {"swapaxes", transpose, "", true},
    {"swapdims", transpose, "", true},
    {"sym_numel", sym_numel},
    {"sym_size", sym_size},
    {"t", t, "", true},
    {"tile", repeat},
    {"transpose", transpose, "", true},
    {"tril", triangle},
    {"triu", triangle},
    {"unbind", unbind, "", true},
    {"unflatten", unflatten, "", true},
    {"unsqueeze", unsqueeze, "", true},
    {"upsample_bicubic2d", upsample, "cubic"},
    {"upsample_bilinear2d", upsample, "linear"},
    {"upsample_linear1d", upsample, "linear"},
    {"upsample_nearest1d", upsample, "nearest"},
    {"upsample_nearest2d", upsample, "nearest"},
    {"upsample_nearest3d", upsample, "nearest"},
    {"upsample_trilinear3d", upsample, "linear"},
    {"view", view, "", true},
    {"view_as", view_as, "", true},
};

}  // namespace

std::span<const TorchOperator> torch_shape_operators() { return kRows; }

}  // namespace iruka::nn
