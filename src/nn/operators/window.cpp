#include "nn/operators/window.h"

#include <cstdlib>

#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr int64_t kMost = 1 << 30;                 ///< of an attribute, so that extents do not overflow
constexpr int64_t kMostExtent = int64_t{1} << 31;  ///< of an axis

std::string list_text(const Spatial& values) {
  return "{" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " + std::to_string(values[2]) + "}";
}

/// Attributes of which each has a number for each spatial axis.
class Reader {
 public:
  Reader(const Call& call, const Array& x) : call_(call), x_(x), rank_(x.ndim() - 2) {
    if (rank_ >= 1 && rank_ <= 3) return;
    call.fail("the input must have one to three spatial axes behind images and channels, but has shape " +
              to_string(x.shape()));
  }

  int rank() const { return rank_; }
  /// The place of the first axis among three.
  size_t first() const { return static_cast<size_t>(3 - rank_); }

  void take(const char* name, Spatial& into, int64_t least) const {
    if (const auto list = call_.integers(name)) take(name, *list, into, least);
  }
  void take(const char* name, const std::vector<int64_t>& list, Spatial& into, int64_t least) const {
    if (std::ssize(list) != rank_) fail(name, list);
    for (size_t k = 0; k < list.size(); ++k) {
      if (list[k] < least || list[k] > kMost) fail(name, list);
      into[first() + k] = list[k];
    }
  }
  void take_pads(Window& window) const {
    const auto list = call_.integers("pads");
    if (!list) return;
    const auto half = static_cast<size_t>(rank_);
    if (list->size() != 2 * half) fail("pads", *list);
    for (size_t k = 0; k < half; ++k) {
      if (std::abs((*list)[k]) > kMost || std::abs((*list)[half + k]) > kMost) fail("pads", *list);
      window.before[first() + k] = (*list)[k];
      window.behind[first() + k] = (*list)[half + k];
    }
  }
  Spatial extents() const {
    Spatial extents{1, 1, 1};
    for (int axis = 0; axis < rank_; ++axis) {
      if (x_.shape(axis + 2) > kMostExtent) call_.fail("an axis is too long in the shape " + to_string(x_.shape()));
      extents[first() + static_cast<size_t>(axis)] = x_.shape(axis + 2);
    }
    return extents;
  }

 private:
  [[noreturn]] void fail(const char* name, const std::vector<int64_t>& list) const {
    call_.fail(std::string(name) + " " + to_string(dims_of(list)) + " do not fit " + std::to_string(rank_) +
               " spatial axes");
  }

  const Call& call_;
  const Array& x_;
  const int rank_;
};

Window attributes_of(const Call& call, const Reader& reader, const std::vector<int64_t>& kernel) {
  Window window;
  window.rank = reader.rank();
  reader.take("kernel_shape", kernel, window.kernel, 1);
  reader.take("strides", window.stride, 1);
  reader.take("dilations", window.dilation, 1);
  (void)call;
  return window;
}

void check_mode(const Call& call, const std::string& mode) {
  for (const char* known : {"", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) {
    if (mode == known) return;
  }
  call.fail("auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, not " + in_quotes(mode));
}

/// Divides all margins of an axis before and behind it.
void divide_margins(const Call& call, const std::string& mode, int64_t all, int64_t& before, int64_t& behind) {
  all = std::max<int64_t>(all, 0);
  if (all > kMost) call.fail("auto_pad " + mode + " makes margins of " + std::to_string(all));
  const int64_t less = all / 2;
  before = mode == "SAME_LOWER" ? all - less : less;
  behind = all - before;
}

}  // namespace

Dims Window::shape(int64_t images, int64_t channels, const Spatial& extents) const {
  Dims shape{images, channels};
  for (int axis = 3 - rank; axis < 3; ++axis) shape.push_back(extents[static_cast<size_t>(axis)]);
  return shape;
}

std::string Window::text(int64_t elements) const {
  bool is_small = elements < kMost && taps() < double{kMost};
  for (size_t axis = 0; axis < 3; ++axis) {  // places within margins count, too
    const int64_t reach = kernel[axis] * dilation[axis], steps = out[axis] * stride[axis];
    is_small &= in[axis] + std::abs(before[axis]) + std::abs(behind[axis]) + reach + steps < kMost;
  }
  std::string text = std::string("using namespace iruka::nn; using Index = ") + (is_small ? "int" : "int64_t") +
                     "; constexpr Window<Index> window{";
  for (const Spatial* values : {&in, &kernel, &stride, &dilation, &before, &behind, &out})
    text += list_text(*values) + ",";
  bool is_inside = true;
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t last = (out[axis] - 1) * stride[axis] - before[axis] + (kernel[axis] - 1) * dilation[axis];
    is_inside &= before[axis] <= 0 && last < in[axis];
  }
  return text + (is_inside ? " true" : " false") + "};\n";
}

Window window_of(const Call& call, const Array& x, const std::vector<int64_t>& kernel) {
  const Reader reader(call, x);
  Window window = attributes_of(call, reader, kernel);
  window.in = reader.extents();
  const std::string mode = call.text("auto_pad", "NOTSET");
  const bool is_same = mode == "SAME_UPPER" || mode == "SAME_LOWER", rounds_up = call.integer("ceil_mode", 0) != 0;
  check_mode(call, mode);
  if (mode == "NOTSET" || mode.empty()) reader.take_pads(window);
  for (size_t axis = reader.first(); axis < 3; ++axis) {
    const int64_t in = window.in[axis], stride = window.stride[axis];
    const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    int64_t& out = window.out[axis];
    if (is_same) {
      out = (in + stride - 1) / stride;
      divide_margins(call, mode, (out - 1) * stride + reach - in, window.before[axis], window.behind[axis]);
      continue;
    }
    const int64_t room = in + window.before[axis] + window.behind[axis] - reach;
    if (room < 0) {
      call.fail("a window of " + std::to_string(reach) + " does not fit an axis of " + std::to_string(in) +
                " with margins of " + std::to_string(window.before[axis] + window.behind[axis]));
    }
    out = (room + (rounds_up ? stride - 1 : 0)) / stride + 1;
    if (rounds_up && (out - 1) * stride >= in + window.before[axis]) --out;  // it would begin in the margin
  }
  return window;
}

Window transposed_window_of(const Call& call, const Array& x, const std::vector<int64_t>& kernel) {
  const Reader reader(call, x);
  Window window = attributes_of(call, reader, kernel);
  window.out = reader.extents();
  Spatial more{}, wanted{};
  reader.take("output_padding", more, 0);
  const std::string mode = call.text("auto_pad", "NOTSET");
  const bool is_same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  check_mode(call, mode);
  auto shape = call.integers("output_shape");
  if (shape && std::ssize(*shape) == reader.rank() + 2) shape->erase(shape->begin(), shape->begin() + 2);
  if (shape) reader.take("output_shape", *shape, wanted, 1);
  if (!shape && !is_same && mode != "VALID") reader.take_pads(window);
  for (size_t axis = reader.first(); axis < 3; ++axis) {
    const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    const int64_t full = window.stride[axis] * (window.out[axis] - 1) + more[axis] + reach;
    int64_t& in = window.in[axis];
    if (shape || is_same) {
      in = shape ? wanted[axis] : window.out[axis] * window.stride[axis];
      // Here the odd margin is in front unless SAME_UPPER says otherwise.
      divide_margins(call, mode == "SAME_UPPER" ? "SAME_UPPER" : "SAME_LOWER", full - in, window.before[axis],
                     window.behind[axis]);
    } else {
      in = full - window.before[axis] - window.behind[axis];
    }
    if (in < 0) call.fail("the margins leave nothing of an axis of " + std::to_string(full));
  }
  return window;
}

}  // namespace iruka::nn
