// Elements at other places: transposed, joined, split, sliced, padded, repeated.
#include "iruka/rearranging.h"

#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "iruka/padding.h"
#include "nn/channels_last.h"
#include "nn/operators/operator.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

Results transpose(const Call& call) {
  const auto order = call.integers("perm");
  return {order ? call[0].transpose(dims_of(*order)) : call[0].transpose()};
}

/// Whether the arrays have the same extents but along `axis`.
bool fit_along(std::span<const Array> parts, int axis) {
  return std::ranges::all_of(parts, [&](const Array& part) {
    if (part.ndim() != parts[0].ndim()) return false;
    for (int k = 0; k < part.ndim(); ++k)
      if (k != axis && part.shape(k) != parts[0].shape(k)) return false;
    return true;
  });
}

Results concat(const Call& call) {
  std::vector<Array> parts;
  parts.reserve(call.count());
  for (size_t k = 0; k < call.count(); ++k) parts.push_back(call[k]);
  const int64_t axis = call.integer("axis", 0);
  if (parts.empty() || !std::ranges::all_of(parts, is_taken_channels_last)) return {concatenate(parts, axis)};
  const int ndim = parts[0].ndim(), of_parts = call.axis(axis, ndim);
  if (!fit_along(parts, of_parts)) return {concatenate(parts, axis)};  // which raises, with the axes as they are named
  // Neighbouring channels stay neighbours.
  for (Array& part : parts) part = channels_behind(part);
  const int behind = of_parts == 0 ? 0 : of_parts == 1 ? ndim - 1 : of_parts - 1;
  return {channels_in_front(concatenate(parts, behind))};
}

Results split_operator(const Call& call) {
  const Array& x = call[0];
  const int axis = call.axis(call.integer("axis", 0), x.ndim());
  const int64_t extent = x.shape(axis), count = static_cast<int64_t>(call.output_count());
  std::vector<int64_t> extents = call.integers("split", 1).value_or(std::vector<int64_t>());
  if (extents.empty()) {
    const int64_t each = (extent + count - 1) / std::max<int64_t>(count, 1);
    for (int64_t left = extent, k = 0; k < count; ++k, left -= each)
      extents.push_back(std::clamp<int64_t>(left, 0, each));
  }
  Results parts;
  int64_t begin = 0;
  for (int64_t part : extents) {
    if (part < 0 || part > extent - begin) break;
    parts.push_back(ops::cut(x, axis, begin, begin + part));
    begin += part;
  }
  if (begin != extent || std::ssize(parts) != count) {
    call.fail("parts of " + to_string(dims_of(extents)) + " do not make " + std::to_string(count) +
              " outputs of axis " + std::to_string(axis) + " of shape " + to_string(x.shape()));
  }
  return parts;
}

Results slice(const Call& call) {
  Array x = call[0];
  const bool has_attributes = call.opset() < 10;
  const auto list = [&](const char* name, size_t input) {
    return has_attributes    ? call.integers(name)
           : call.has(input) ? std::optional(call.integers_of(input))
                             : std::nullopt;
  };
  const std::vector<int64_t> starts = list("starts", 1).value_or(std::vector<int64_t>());
  const std::vector<int64_t> ends = list("ends", 2).value_or(std::vector<int64_t>());
  const auto axes = list("axes", 3), steps = has_attributes ? std::nullopt : list("steps", 4);
  const size_t count = starts.size();
  if (ends.size() != count || (axes && axes->size() != count) || (steps && steps->size() != count)) {
    call.fail("starts, ends, axes and steps must be of one length");
  }
  for (size_t k = 0; k < count; ++k) {
    const int axis = call.axis(axes ? (*axes)[k] : static_cast<int64_t>(k), x.ndim());
    const int64_t step = steps ? (*steps)[k] : 1, extent = x.shape(axis);
    if (step == 0) call.fail("a step is 0");
    // A negative end that lies before the axis is beyond its beginning for a slice that goes backwards.
    const bool is_whole = step < 0 && ends[k] < -extent;
    std::vector<Index> index(static_cast<size_t>(axis) + 1, Slice{});
    index.back() = Slice{std::max(starts[k], -extent - 1), is_whole ? std::nullopt : std::optional(ends[k]), step};
    if (step < 0 && starts[k] < -extent) index.back() = Slice{0, 0, 1};
    if (step > 0 && starts[k] < -extent) index.back() = Slice{0, ends[k], step};
    x = x.index(index);
  }
  return {x};
}

/// Widths of margins, all before and then all behind the axes; negative ones cut elements off.
Array padded(const Call& call, Array x, const std::vector<int64_t>& before, const std::vector<int64_t>& behind,
             const std::string& mode, const PadValue& value) {
  constexpr int64_t kMost = int64_t{1} << 48;  // so that extents do not overflow
  std::vector<Margins<int64_t>> widths;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto k = static_cast<size_t>(axis);
    for (const int64_t pad : {before[k], behind[k]}) {
      if (pad < -kMost || pad > kMost)
        call.fail("a pad of axis " + std::to_string(axis) + " is " + std::to_string(pad));
    }
    const int64_t first = std::max<int64_t>(-before[k], 0), last = x.shape(axis) + std::min<int64_t>(behind[k], 0);
    if (first > last) call.fail("negative pads leave nothing of axis " + std::to_string(axis));
    x = ops::cut(x, axis, first, last);
    widths.emplace_back(std::max<int64_t>(before[k], 0), std::max<int64_t>(behind[k], 0));
  }
  PadOptions options{.mode = parse_pad_mode(mode)};
  if (options.mode == PadMode::constant) options.values.push_back({value, value});
  return x.ndim() == 0 ? x : pad(x, widths, options);
}

Results pad_operator(const Call& call) {
  const Array& x = call[0];
  const auto ndim = static_cast<size_t>(x.ndim());
  const bool has_attributes = call.opset() < 11;
  const std::vector<int64_t> pads =
      has_attributes ? call.integers("pads").value_or(std::vector<int64_t>()) : call.integers_of(1);
  std::vector<int64_t> axes;
  axes.reserve(ndim);
  for (size_t axis = 0; axis < ndim; ++axis) axes.push_back(static_cast<int64_t>(axis));
  if (call.has(3)) axes = call.integers_of(3);
  if (pads.size() != 2 * axes.size()) {
    call.fail(std::to_string(pads.size()) + " pads are not two for each of " + std::to_string(axes.size()) + " axes");
  }
  std::vector<int64_t> before(ndim), behind(ndim);
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<size_t>(call.axis(axes[k], x.ndim()));
    before[axis] = pads[k], behind[axis] = pads[k + axes.size()];
  }
  PadValue value = Scalar(has_attributes ? call.number("value", 0) : 0.0);
  if (!has_attributes) value = call.has(2) ? call.number_of(2) : Scalar(0).typed(x.dtype());
  if (has_attributes && !is_inexact(x.dtype())) value = Scalar(static_cast<int64_t>(call.number("value", 0)));
  return {padded(call, x, before, behind, call.text("mode", "constant"), value)};
}

/// (N, C, H, W) and the extent of blocks.
int64_t block_of(const Call& call) {
  const int64_t block = call.integer("blocksize", 1);
  if (call[0].ndim() != 4) call.fail("the input must have four axes, but has shape " + to_string(call[0].shape()));
  if (block < 1 || block > 1 << 15) call.fail("blocksize must be 1 to 32768, but is " + std::to_string(block));
  return block;
}

Results depth_to_space(const Call& call) {
  const Array& x = call[0];
  const int64_t b = block_of(call), n = x.shape(0), c = x.shape(1) / (b * b), h = x.shape(2), w = x.shape(3);
  const bool is_crd = call.text("mode", "DCR") == "CRD";
  const Array parts = is_crd ? x.reshape({n, c, b, b, h, w}).transpose({0, 1, 4, 2, 5, 3})
                             : x.reshape({n, b, b, c, h, w}).transpose({0, 3, 4, 1, 5, 2});
  return {parts.reshape({n, c, h * b, w * b})};
}

Results space_to_depth(const Call& call) {
  const Array& x = call[0];
  const int64_t b = block_of(call), n = x.shape(0), c = x.shape(1), h = x.shape(2) / b, w = x.shape(3) / b;
  const bool is_crd = call.text("mode", "DCR") == "CRD";
  const Array parts = x.reshape({n, c, h, b, w, b});
  return {(is_crd ? parts.transpose({0, 1, 3, 5, 2, 4}) : parts.transpose({0, 3, 5, 1, 2, 4}))
              .reshape({n, c * b * b, h, w})};
}

Results tile_operator(const Call& call) { return {tile(call[0], dims_of(call.integers_of(1)))}; }

Results trilu(const Call& call) {
  const int64_t k = call.has(1) ? call.number_of(1).as_int64() : 0;
  const Array& x = call[0];
  if (x.ndim() < 2) call.fail("the input must have two axes, but has shape " + to_string(x.shape()));
  if (x.size() == 0) return {x};
  const int64_t most = x.shape(x.ndim() - 2) + x.shape(x.ndim() - 1), diagonal = std::clamp(k, -most, most);
  return {call.integer("upper", 1) ? triu(x, diagonal) : tril(x, diagonal)};
}

constexpr Operator kRows[] = {
    {"Concat", concat},
    {"DepthToSpace", depth_to_space},
    {"Pad", pad_operator, 0b1110},
    {"Slice", slice, 0b11110},
    {"SpaceToDepth", space_to_depth},
    {"Split", split_operator, 0b10},
    {"Tile", tile_operator, 0b10},
    {"Transpose", transpose},
    {"Trilu", trilu, 0b10},
};

}  // namespace

std::span<const Operator> rearranging_operators() { return kRows; }

}  // namespace iruka::nn
