#include "nn/operators/window.h"

#include <cstdlib>

#include "core/device.h"
#include "jit/divider.h"
#include "nn/channels_last.h"
#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr int64_t kMost = 1 << 30;  ///< of an attribute, so that extents do not overflow
/// Rows of as many elements are units of work. Results whose extents are all smaller than the second number have
/// kernels of their own.
constexpr int64_t kLongRow = 12, kMostConstant = 48;
constexpr int64_t kMostExtent = int64_t{1} << 31;  ///< of an axis

std::string list_text(const Spatial& values) {
  return "{" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " + std::to_string(values[2]) + "}";
}

/// The factor of Divisor in nn/kernels/windows.h.
int64_t divisor_factor(int64_t number) {
  const jit::Divider divider(number);
  return int64_t{divider.shift} << 32 | divider.magic;
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

Window::Texts Window::texts(bool fills_input, bool is_small, bool is_constant,
                            std::optional<int64_t> channels_last) const {
  const std::string type = is_small ? "int32" : "int64";
  Texts texts{
      {}, std::string("using namespace iruka::nn; using Index = ") + (is_small ? "int" : "int64_t") + ";\n", {}};
  /// Three numbers as arguments; those of axes that the array lacks, or all of them, are constants.
  const auto list = [&](const char* name, const Spatial& values, const std::string& number_type) {
    std::string text;
    for (size_t axis = 0; axis < 3; ++axis) {
      std::string number = std::to_string(values[axis]);
      if (axis >= static_cast<size_t>(3 - rank) && !is_constant) {
        number = std::string(name) + std::to_string(axis);
        texts.parameters += (texts.parameters.empty() ? "" : ", ") + number_type + " " + number;
        texts.arguments.emplace_back(values[axis]);
      }
      text += (axis ? ", " : "") + number;
    }
    return text;
  };
  const Spatial& filled = fills_input ? in : out;
  Spatial factors{};
  bool is_inside = true;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (is_small && !is_constant) factors[axis] = divisor_factor(filled[axis]);
    const int64_t last = (out[axis] - 1) * stride[axis] - before[axis] + (kernel[axis] - 1) * dilation[axis];
    is_inside &= before[axis] <= 0 && last < in[axis];
  }
  const std::string ins = list("in", in, type), befores = list("before", before, type),
                    behinds = list("behind", behind, type), outs = list("out", out, type);
  list("factor", factors, "int64");
  std::string channels = "{1, 0}";
  if (channels_last) {
    channels = "{channels, channels_factor}";
    texts.parameters += ", " + type + " channels, int64 channels_factor";
    texts.arguments.emplace_back(*channels_last);
    texts.arguments.emplace_back(is_small ? divisor_factor(*channels_last) : 0);
  }
  const std::string kind = is_constant ? "constexpr " : "const ";
  texts.head += kind + "Window<Index> window{" + std::to_string(rank) + ", {" + ins + "}, " + list_text(kernel) + ", " +
                list_text(stride) + ", " + list_text(dilation) + ", {" + befores + "}, {" + behinds + "}, {" + outs +
                "}, " + (is_inside ? "true" : "false") + ", {";
  for (size_t axis = 0; axis < 3; ++axis) {
    const std::string number = std::to_string(axis);
    texts.head += is_constant || axis < static_cast<size_t>(3 - rank)
                      ? "{" + std::to_string(filled[axis]) + ", 0}, "
                      : "{" + std::string(fills_input ? "in" : "out") + number + ", factor" + number + "}, ";
  }
  texts.head += "}, " + channels + "};\n";
  return texts;
}

Array Window::fill(const WindowKernel& made, const std::vector<Array>& arguments, const Dims& shape,
                   std::optional<int64_t> channels_last) const {
  bool is_small = taps() < double{kMost};
  int64_t elements = count(shape);
  for (const Array& array : arguments) elements = std::max(elements, array.size());
  is_small &= elements < kMost;
  for (size_t axis = 0; axis < 3; ++axis) {  // places within margins count, too
    const int64_t reach = kernel[axis] * dilation[axis], steps = out[axis] * stride[axis];
    is_small &= in[axis] + std::abs(before[axis]) + std::abs(behind[axis]) + reach + steps < kMost;
  }
  Device& device = arguments[0].device();
  const Spatial& filled = made.fills_input ? in : out;
  // Vectors of a host follow rows, which pays unless they are short. Constants help where extents are small: there are
  // few of these, so that the kernels are few, too. A GPU's threads each compute one element.
  const bool is_host = device.target().is_host && !channels_last;
  const bool is_constant = is_host && std::ranges::max(filled) < kMostConstant;
  const bool has_rows = is_host && filled[2] >= kLongRow;
  Texts texts = this->texts(made.fills_input, is_small, is_constant, channels_last);
  const std::string body =
      has_rows && !made.row_body.empty() ? made.row_body
      : has_rows ? "for_row(window, Index(i), [&](const Place<Index>& to, Index at) __attribute__((always_inline)) {" +
                       made.body + "});"
                 : "const Index at = Index(i); const Place<Index> to = place_of(window, at);" + made.body;
  const auto& kernel = kernel_of("windows", texts.parameters + (texts.parameters.empty() ? "" : ", ") + made.inputs,
                                 made.results, texts.head + body, made.name,
                                 has_rows ? std::vector<std::string>{"--lanes=1"} : std::vector<std::string>());
  texts.arguments.insert(texts.arguments.end(), arguments.begin(), arguments.end());
  const Dims in_memory = channels_last ? shape_with_channels_behind(shape) : shape;
  const Array result = filled_by(kernel, std::move(texts.arguments), in_memory, arguments[0].dtype(), device,
                                 has_rows ? std::optional(count(shape) / filled[2]) : std::nullopt);
  return channels_last ? channels_in_front(result) : result;
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
