// Passes as kernels: for devices without loops for pictures.
#include <algorithm>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>

#include "core/device.h"
#include "core/fork.h"
#include "core/once.h"
#include "image/geometry/run.h"
#include "iruka/device.h"
#include "iruka/kernel.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

constexpr int64_t kMostSmall = int64_t{1} << 30;  ///< elements that are counted by int
constexpr size_t kMostMaps = 64;                  ///< that are kept on devices

template <class T>
Array on_device(const std::vector<T>& values, Dtype dtype, Device& device) {
  // An array of no elements would have no memory.
  Array host = Array::empty({std::max<int64_t>(std::ssize(values), 1)}, dtype, cpu());
  std::memset(host.data(), 0, static_cast<size_t>(host.nbytes()));
  if (!values.empty()) std::memcpy(host.data(), values.data(), values.size() * sizeof(T));
  return host.to_device(device);
}

/// An axis map in a device's memory.
struct DeviceMap {
  Array start, count, fixed, weights;
};
DeviceMap device_map(const AxisMap& map, Device& device) {
  struct Entry {
    uint64_t map;
    const Device* device;
    DeviceMap arrays;
  };
  static constinit ForkSafeMutex mutex;
  std::list<Entry>& entries = made_once([] { return std::list<Entry>(); });
  {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find_if(
        entries, [&](const Entry& entry) { return entry.map == map.id && entry.device == &device; });
    if (found != entries.end()) {
      entries.splice(entries.begin(), entries, found);
      return found->arrays;
    }
  }
  Dtype int16 = Dtype::int16;
  const DeviceMap made{on_device(map.start, Dtype::int32, device), on_device(map.count, Dtype::int32, device),
                       on_device(map.fixed, int16, device), on_device(map.weights, Dtype::float32, device)};
  device.synchronize();  // other streams may read them next
  const std::lock_guard lock(mutex);
  entries.push_front({map.id, &device, made});
  if (entries.size() > kMostMaps) entries.pop_back();
  return made;
}

const char* sample_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8: return "kUint8";
    case Dtype::uint16: return "kUint16";
    case Dtype::float16: return "kFloat16";
    default: return "kFloat32";
  }
}

/// What belongs to a pass in the text of its kernel.
struct Text {
  std::string steps;           ///< template arguments
  std::vector<float> numbers;  ///< rows of means and scales for all channels
};
Text text_of_steps(const PassPlan& plan, bool rounds_first) {
  Text text;
  const auto add = [&](const char* step) { text.steps += (text.steps.empty() ? "" : ", ") + std::string(step); };
  if (rounds_first) add(sample_name(plan.dtype));
  for (const PointStep& step : plan.steps) {
    if (step.kind == PointStep::Kind::round) {
      add(sample_name(step.dtype));
      continue;
    }
    add("kNormalize");
    for (const std::vector<float>* row : {&step.mean, &step.scale}) {
      for (int64_t c = 0; c < plan.to.channels; ++c)
        text.numbers.push_back((*row)[row->size() == 1 ? 0 : static_cast<size_t>(c)]);
    }
  }
  add(sample_name(plan.result_dtype));
  return text;
}

/// What belongs to a pass whose steps see whole pixels.
struct ColorText {
  std::string steps;           ///< statements
  std::vector<float> numbers;  ///< of all steps
  std::vector<Array> tables;   ///< table0, table1, ...
  int64_t channels;            ///< the most of all steps
};
/// One step as a statement.
class ColorTextWriter {
 public:
  explicit ColorTextWriter(const PassPlan& plan) : text_{.channels = plan.from.channels}, now_(plan.from.channels) {}

  void add(const PointStep& step) {
    const std::string own = sample_name(step.dtype), at = std::to_string(text_.numbers.size());
    const std::string channels = std::to_string(now_);
    switch (step.kind) {
      case PointStep::Kind::normalize: write("normalize_pixel<" + channels + ">(values, numbers, " + at + ")"); break;
      case PointStep::Kind::round: write("round_pixel<" + channels + ", " + own + ">(values)"); break;
      case PointStep::Kind::affine:
        write("scale_pixel<" + channels + ", " + own + ">(values, numbers, " + at + ")");
        break;
      case PointStep::Kind::gamma:
        write("gamma_pixel<" + channels + ", " + own + ">(values, numbers, " + at + ")");
        text_.numbers.insert(text_.numbers.end(), {step.gain, step.exponent});
        break;
      case PointStep::Kind::matrix:
        write("multiply_pixel<" + channels + ", " + std::to_string(step.outputs) + ", " + own + ">(values, numbers, " +
              at + ")");
        text_.numbers.insert(text_.numbers.end(), step.scale.begin(), step.scale.end());
        spread(step.offset, step.outputs);
        break;
      case PointStep::Kind::convert:
        write("convert_pixel<" + std::to_string(static_cast<int>(step.conversion)) + ", " + channels + ", " +
              std::to_string(step.outputs) + ", " + own + (step.reverses_inputs ? ", true" : ", false") +
              (step.reverses_outputs ? ", true" : ", false") + ">(values)");
        break;
      case PointStep::Kind::lookup:
        write("look_up_pixel<" + channels + ", " + std::to_string(step.table.shape(1)) +
              (step.table.shape(0) > 1 ? ", true" : ", false") + ">(values, table" +
              std::to_string(text_.tables.size()) + ")");
        text_.tables.push_back(step.table);
        break;
    }
    if (step.kind == PointStep::Kind::normalize || step.kind == PointStep::Kind::affine) {
      const bool normalizes = step.kind == PointStep::Kind::normalize;
      spread(normalizes ? step.mean : step.scale, now_);
      spread(normalizes ? step.scale : step.offset, now_);
    }
    if (step.is_color()) now_ = step.outputs;
    text_.channels = std::max(text_.channels, now_);
  }
  ColorText finish() { return std::move(text_); }

 private:
  void write(const std::string& call) { text_.steps += call + ";\n"; }
  void spread(const std::vector<float>& values, int64_t count) {
    for (int64_t c = 0; c < count; ++c)
      text_.numbers.push_back(values[values.size() == 1 ? 0 : static_cast<size_t>(c)]);
  }

  ColorText text_;
  int64_t now_;
};

const ElementwiseKernel& kernel_of(const std::string& inputs, const std::string& output, const std::string& body,
                                   bool has_colors) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(inputs + "|" + output + "|" + body, [&] {
    KernelOptions options;
    options.preamble =
        has_colors ? "#include \"image/kernels/color_pixel.h\"\n" : "#include \"image/kernels/warp.h\"\n";
    if (has_colors) options.options = {"--fmad=false"};  // as the CPU's loops are compiled
    options.diagnose_early = false;
    return ElementwiseKernel(inputs, output, body, "resample_picture", options);
  });
}

/// A list of parameters and their arguments.
class Parameters {
 public:
  template <class T>
  void add(const std::string& parameter, T argument) {
    text_ += (text_.empty() ? "" : ", ") + parameter;
    if constexpr (std::is_same_v<T, Array>) {
      arrays_.push_back(std::move(argument));
      arguments_.emplace_back(arrays_.back());
    } else {
      arguments_.emplace_back(argument);
    }
  }
  const std::string& text() const { return text_; }
  std::vector<Argument>& arguments() { return arguments_; }

 private:
  std::string text_;
  std::deque<Array> arrays_;  // to which arguments refer
  std::vector<Argument> arguments_;
};

const char* border_name(Border border) {
  switch (border) {
    case Border::constant: return "kConstant";
    case Border::edge: return "kEdge";
    case Border::reflect: return "kReflect";
    case Border::symmetric: return "kSymmetric";
    case Border::wrap: return "kWrap";
  }
  return "";
}
const char* filter_name(Filter filter) {
  return filter == Filter::nearest ? "kNearest" : filter == Filter::cubic ? "kCubic" : "kLinear";
}

/// One pass on its way to a kernel.
class KernelPass {
 public:
  explicit KernelPass(const PassRun& run)
      : run_(run),
        plan_(run.plan),
        device_(run.source.device()),
        rows_(axis_map(plan_.rows)),
        columns_(axis_map(plan_.columns)),
        source_(run.source.contiguous()) {
    const int64_t elements = std::max(source_.size(), run.result.size());
    const int64_t weights = std::max(std::ssize(rows_->weights), std::ssize(columns_->weights));
    is_small_ = std::max(elements, weights) < kMostSmall;
  }

  void launch() {
    add_picture();
    const DeviceMap y = device_map(*rows_, device_), x = device_map(*columns_, device_);
    parameters_.add("raw const int32 start_y", y.start);
    parameters_.add("raw const int32 start_x", x.start);
    std::string value;
    bool rounds_first = false;  // sums of floats to the dtype of the picture
    if (plan_.warp) {
      value = warp_text();
      rounds_first = plan_.warp->filter != Filter::nearest && plan_.dtype != Dtype::uint8;
    } else {
      value = resample_text(y, x, rounds_first);
    }
    if (plan_.dtype == Dtype::float32) rounds_first = false;
    if (std::ranges::any_of(plan_.steps, &PointStep::is_color)) return launch_pixels(value, rounds_first);
    const Text steps = text_of_steps(plan_, rounds_first);
    parameters_.add("raw const float32 numbers", on_device(steps.numbers, Dtype::float32, device_));
    const bool to_planes = plan_.to.layout == Layout::chw && !plan_.to.is_flat;
    const std::string body = std::string("using namespace iruka::image; using Index = ") +
                             (is_small_ ? "int" : "int64_t") +
                             ";\nconst Picture<Index> picture{first, row, column, channel, channels};\nconst "
                             "Element<Index> to = element_at<" +
                             (to_planes ? "true" : "false") + ", " + (plan_.is_transposed ? "true" : "false") +
                             ">(Index(i), middle, last);\nfloat value = outside[to.channel];\n"
                             "if (start_y[to.y] >= 0 && start_x[to.x] >= 0) {\n" +
                             value + "}\nresult = " + info(plan_.result_dtype).c_type + "(stepped<" + steps.steps +
                             ">(value, numbers, channels, to.channel));";
    parameters_.arguments().emplace_back(run_.result);
    kernel_of(parameters_.text(), std::string(name(plan_.result_dtype)) + " result", body, false)
        .fill(parameters_.arguments());
  }

 private:
  /// An element of the loop is a pixel: `value` sets one channel of it.
  void launch_pixels(const std::string& value, bool rounds_first) {
    ColorTextWriter writer(plan_);
    const PointStep round{.kind = PointStep::Kind::round, .dtype = plan_.dtype};
    if (rounds_first) writer.add(round);
    for (const PointStep& step : plan_.steps) writer.add(step);
    PointStep last = round;
    last.dtype = plan_.result_dtype;
    writer.add(last);
    const ColorText text = writer.finish();
    parameters_.add("raw const float32 numbers", on_device(text.numbers, Dtype::float32, device_));
    for (size_t k = 0; k < text.tables.size(); ++k)
      parameters_.add("raw const float32 table" + std::to_string(k), text.tables[k].to_device(device_));
    const PictureShape& to = plan_.to;
    parameters_.add(index() + "wide", to.width);
    parameters_.add(index() + "pixels", to.width * to.height);
    const bool to_planes = to.layout == Layout::chw && !to.is_flat;
    const std::string from_channels = std::to_string(plan_.from.channels), to_channels = std::to_string(to.channels);
    const std::string body =
        std::string("using namespace iruka::image; using Index = ") + (is_small_ ? "int" : "int64_t") +
        ";\nconst Picture<Index> picture{first, row, column, channel, channels};\nconst Index down = Index(i) / wide, "
        "across = Index(i) - down * wide;\nfloat values[" +
        std::to_string(text.channels) + "];\nfor (int c = 0; c < " + from_channels +
        "; c++) {\nconst Element<Index> to{" + (plan_.is_transposed ? "across, down" : "down, across") +
        ", c};\nfloat value = outside[c];\nif (start_y[to.y] >= 0 && start_x[to.x] >= 0) {\n" + value +
        "}\nvalues[c] = value;\n}\n" + text.steps + "for (int c = 0; c < " + to_channels + "; c++) result[" +
        (to_planes ? "c * pixels + Index(i)" : "Index(i) * " + to_channels + " + c") +
        "] = " + info(plan_.result_dtype).c_type + "(values[c]);";
    parameters_.arguments().emplace_back(run_.result);
    kernel_of(parameters_.text(), std::string("raw ") + name(plan_.result_dtype) + " result", body, true)
        .fill(parameters_.arguments(), {.size = to.width * to.height});
  }

  std::string index() const { return is_small_ ? "int32 " : "int64 "; }

  void add_picture() {
    const bool from_planes = plan_.from.layout == Layout::chw && !plan_.from.is_flat;
    const int64_t channels = plan_.from.channels, width = plan_.from.width, height = plan_.from.height;
    const int64_t row = from_planes ? width : width * channels, column = from_planes ? 1 : channels;
    const Dims shape = plan_.to.dims();
    std::vector<float> outside(static_cast<size_t>(channels), plan_.outside.front());
    if (plan_.outside.size() > 1) outside = plan_.outside;
    parameters_.add(std::string("raw const ") + name(plan_.source_dtype) + " source", source_);
    parameters_.add("raw const float32 outside", on_device(outside, Dtype::float32, device_));
    parameters_.add("int32 channels", channels);
    parameters_.add(index() + "first", plan_.y * row + plan_.x * column);
    parameters_.add(index() + "row", row);
    parameters_.add(index() + "column", column);
    parameters_.add(index() + "channel", from_planes ? width * height : int64_t{1});
    parameters_.add(index() + "middle", shape[1]);
    parameters_.add(index() + "last", plan_.to.is_flat ? int64_t{1} : shape[2]);
  }

  /// The statement that sets `value` by the maps.
  std::string resample_text(const DeviceMap& y, const DeviceMap& x, bool& rounds_first) {
    const bool selects = rows_->selects && columns_->selects;
    const bool is_fixed = !selects && plan_.dtype == Dtype::uint8 && !rows_->fixed.empty() && !columns_->fixed.empty();
    const std::string weights = is_fixed ? "raw const int16 " : "raw const float32 ";
    parameters_.add("raw const int32 count_y", y.count);
    parameters_.add("raw const int32 count_x", x.count);
    parameters_.add(weights + "weights_y", is_fixed ? y.fixed : y.weights);
    parameters_.add(weights + "weights_x", is_fixed ? x.fixed : x.weights);
    parameters_.add("int32 taps_y", is_fixed ? rows_->even_taps() : rows_->taps);
    parameters_.add("int32 taps_x", is_fixed ? columns_->even_taps() : columns_->taps);
    rounds_first = !selects && !is_fixed;
    return std::string(
               "const Axis rows{start_y, count_y, weights_y, taps_y};\n"
               "const Axis columns{start_x, count_x, weights_x, taps_x};\nvalue = resampled<") +
           (selects    ? "kSelect"
            : is_fixed ? "kFixed"
                       : "kReal") +
           (plan_.rounds_columns() ? ", true" : ", false") + ">(source, picture, rows, columns, to);\n";
  }

  /// The same by the places of a warp.
  std::string warp_text() {
    parameters_.add("int32 height", plan_.height);
    parameters_.add("int32 width", plan_.width);
    std::string place;
    if (run_.map_x.valid()) {
      parameters_.add("raw const float32 map_y", run_.map_y);
      parameters_.add("raw const float32 map_x", run_.map_x);
      parameters_.add(index() + "line", run_.map_x.shape(1));
      place =
          "const Index at = Index(start_y[to.y]) * line + start_x[to.x];\nconst Place place{map_y[at], map_x[at]};\n";
    } else {
      const WarpNumbers numbers(*plan_.warp, plan_.rows.in);
      parameters_.add("raw const float32 rows", on_device(numbers.rows, Dtype::float32, device_));
      parameters_.add("float32 across_x", static_cast<double>(numbers.column[0]));
      parameters_.add("float32 across_y", static_cast<double>(numbers.column[1]));
      parameters_.add("float32 across", static_cast<double>(numbers.column[2]));
      place = std::string("const Place place = place_of<") + (numbers.divides ? "true" : "false") +
              ">(rows, WarpPlaces{across_x, across_y, across}, start_y[to.y], start_x[to.x]);\n";
    }
    return place + "value = warped<" + filter_name(plan_.warp->filter) + ", " + border_name(plan_.warp->border) +
           (plan_.dtype == Dtype::uint8 ? ", true" : ", false") +
           ">(source, picture, outside, PictureSize{height, width}, place.y, place.x, to.channel);\n";
  }

  const PassRun& run_;
  const PassPlan& plan_;
  Device& device_;
  const std::shared_ptr<const AxisMap> rows_, columns_;
  const Array source_;
  bool is_small_;
  Parameters parameters_;
};

}  // namespace

void run_by_kernel(const PassRun& run) { KernelPass(run).launch(); }

}  // namespace iruka::image
