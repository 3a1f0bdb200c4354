// Filters as kernels: for devices without loops for them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/device.h"
#include "image/filters/run.h"
#include "iruka/device.h"
#include "iruka/kernel.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

using Kind = FilterWindow::Kind;

constexpr int64_t kMostSmall = int64_t{1} << 30;  ///< elements that are counted by int

const char* border_name(Border border) {
  switch (border) {
    case Border::constant: return "kConstantBorder";
    case Border::edge: return "kEdgeBorder";
    case Border::reflect: return "kReflectBorder";
    case Border::symmetric: return "kSymmetricBorder";
    case Border::wrap: return "kWrapBorder";
  }
  return "";
}

/// One launch: the taps of a window, or those along one of its axes.
struct Launch {
  const char* kind;
  bool is_exact;  ///< sums are integers
  std::vector<double> outside;
  std::vector<double> weights{0};
  std::vector<int32_t> tap_y{}, tap_x{};
  const char* finish = "value";  ///< of the sum `value`
};

template <class T>
Array on_device(const std::vector<double>& values, Device& device) {
  std::vector<T> numbers(values.size());
  std::ranges::transform(values, numbers.begin(), [](double value) { return static_cast<T>(value); });
  Array host = Array::empty({std::ssize(numbers)}, dtype_of<T>, cpu());
  std::memcpy(host.data(), numbers.data(), numbers.size() * sizeof(T));
  return host.to_device(device);
}
std::vector<double> as_doubles(const auto& values) { return {values.begin(), values.end()}; }

const ElementwiseKernel& kernel_of(const std::string& inputs, const std::string& output, const std::string& body) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(inputs + "|" + output + "|" + body, [&] {
    KernelOptions options;
    options.preamble = "#include \"image/kernels/filters.h\"\n";
    options.diagnose_early = false;
    return ElementwiseKernel(inputs, output, body, "filter_picture", options);
  });
}

/// A value as an element of a dtype.
std::string rounded_text(Dtype dtype, const std::string& value) {
  const std::string type = info(dtype).c_type;
  switch (dtype) {
    case Dtype::uint8: return type + "(saturated(float(" + value + "), 0.0f, 255.0f))";
    case Dtype::uint16: return type + "(saturated(float(" + value + "), 0.0f, 65535.0f))";
    case Dtype::int16: return type + "(saturated(float(" + value + "), -32768.0f, 32767.0f))";
    default: return type + "(" + value + ")";
  }
}

class KernelRun {
 public:
  explicit KernelRun(const FilterRun& run)
      : run_(run), window_(*run.stage.window), device_(run.source.device()), outside_(as_doubles(run.stage.outside)) {
    if (outside_.size() == 1) outside_.resize(static_cast<size_t>(run.shape.channels), outside_.front());
  }

  void launch_all() {
    const Array source = run_.source.contiguous();
    switch (window_.kind) {
      case Kind::sum: return launch(source, run_.result, of_taps("kSum"));
      case Kind::integer_sum: {
        Launch exact = of_taps("kSum");
        exact.is_exact = true;
        return launch(source, run_.result, exact);
      }
      case Kind::median: return launch(source, run_.result, of_all("kMedian"));
      case Kind::bilateral: return launch(source, run_.result, of_taps("kBilateral"));
      case Kind::least:
      case Kind::greatest: {
        const char* const kind = window_.kind == Kind::least ? "kLeast" : "kGreatest";
        if (!window_.is_full) return launch(source, run_.result, of_taps(kind));
        return both(source, run_.source.dtype(), kind, false, ones(window_.height), ones(window_.width), "value");
      }
      case Kind::separable:
        return both(source, Dtype::float32, "kSum", false, as_doubles(window_.rows), as_doubles(window_.columns),
                    "value");
      case Kind::fixed:
        return both(source, Dtype::int32, "kSum", true, as_doubles(window_.integer_rows),
                    as_doubles(window_.integer_columns), "(value + 32768) >> 16");
      case Kind::integers:
        return both(source, Dtype::int32, "kSum", true, as_doubles(window_.integer_rows),
                    as_doubles(window_.integer_columns), "value");
      case Kind::box:
        return both(source, Dtype::int32, "kSum", true, ones(window_.height), ones(window_.width),
                    "float(value) * scale");
    }
  }

 private:
  static std::vector<double> ones(int32_t count) { return std::vector<double>(static_cast<size_t>(count), 1.0); }

  Launch of_taps(const char* kind) const {
    Launch made{kind, false, outside_, {}};
    for (const FilterWindow::Tap& tap : window_.taps) {
      made.tap_y.push_back(tap.y);
      made.tap_x.push_back(tap.x);
      made.weights.push_back(static_cast<double>(tap.weight));
    }
    return made;
  }
  Launch of_all(const char* kind) const {
    Launch made{kind, false, outside_};
    for (int32_t y = 0; y < window_.height; ++y) {
      for (int32_t x = 0; x < window_.width; ++x) {
        made.tap_y.push_back(y);
        made.tap_x.push_back(x);
      }
    }
    return made;
  }

  /// Along the columns of the window, then along its rows.
  void both(const Array& source, Dtype between, const char* kind, bool is_exact, const std::vector<double>& down,
            const std::vector<double>& across, const char* finish) {
    const Array middle = Array::empty(source.shape(), between, device_);
    Launch first{kind, is_exact, outside_, down};
    for (int32_t y = 0; y < window_.height; ++y) {
      first.tap_y.push_back(y);
      first.tap_x.push_back(window_.anchor_x);
    }
    launch(source, middle, first, false);
    Launch second{kind, is_exact, outside_, across};
    second.finish = finish;
    for (int32_t x = 0; x < window_.width; ++x) {
      second.tap_y.push_back(window_.anchor_y);
      second.tap_x.push_back(x);
    }
    if (std::strcmp(kind, "kSum") == 0) {
      // What the first launch would make of constants alone.
      for (double& value : second.outside) {
        float sum = 0;
        double exact = 0;
        for (const double weight : down) {
          sum = std::fmaf(static_cast<float>(value), static_cast<float>(weight), sum);
          exact += value * weight;
        }
        value = is_exact ? exact : static_cast<double>(sum);
      }
    }
    launch(middle, run_.result, second);
  }

  void launch(const Array& source, const Array& result, const Launch& pass, bool is_last = true) const {
    const bool is_small = source.size() < kMostSmall;
    const std::string index = is_small ? "int32 " : "int64 ";
    const std::string number = pass.is_exact ? "int" : "float", stored = pass.is_exact ? "int32" : "float32";
    const bool is_planar = run_.shape.layout == Layout::chw && !run_.shape.is_flat;
    const bool has_other = is_last && run_.other.valid();
    const Array outside =
        pass.is_exact ? on_device<int32_t>(pass.outside, device_) : on_device<float>(pass.outside, device_);
    const Array weights =
        pass.is_exact ? on_device<int32_t>(pass.weights, device_) : on_device<float>(pass.weights, device_);
    const Array tap_y = on_device<int32_t>(as_doubles(pass.tap_y), device_);
    const Array tap_x = on_device<int32_t>(as_doubles(pass.tap_x), device_);
    const Array other = has_other ? run_.other.contiguous() : Array();
    std::string parameters = std::string("raw const ") + name(source.dtype()) + " source, raw const " + stored +
                             " outside, raw const int32 tap_y, raw const int32 tap_x, raw const " + stored +
                             " weights, " + index + "height, " + index +
                             "width, int32 channels, int32 anchor_y, int32 anchor_x, int32 taps, float32 scale";
    std::vector<Argument> arguments{source,
                                    outside,
                                    tap_y,
                                    tap_x,
                                    weights,
                                    run_.shape.height,
                                    run_.shape.width,
                                    run_.shape.channels,
                                    int64_t{window_.anchor_y},
                                    int64_t{window_.anchor_x},
                                    std::ssize(pass.tap_y),
                                    static_cast<double>(window_.scale)};
    if (has_other) {
      parameters += std::string(", raw const ") + name(other.dtype()) + " other";
      arguments.emplace_back(other);
    }
    arguments.emplace_back(result);
    const int64_t bits = source.dtype() == Dtype::uint8 ? 8 : source.dtype() == Dtype::uint16 ? 16 : 32;
    std::string body = "using namespace iruka; using namespace iruka::image; using Index = " +
                       std::string(is_small ? "int" : "int64_t") +
                       ";\nconst WindowShape<Index> shape{height, width, channels, anchor_y, anchor_x, taps};\n"
                       "const " +
                       number + " value = windowed<" + pass.kind + ", " + number + ", " + std::to_string(bits) + ", " +
                       border_name(run_.stage.border) + ", " + (is_planar ? "true" : "false") +
                       ">(source, outside, shape, tap_y, tap_x, weights, scale, window_place<" +
                       (is_planar ? "true" : "false") + ">(shape, Index(i)));\n";
    body += std::string("const auto filtered = ") + pass.finish + ";\n";
    std::string difference = "filtered";
    if (has_other)
      difference = run_.stage.difference == Filtering::Difference::other_minus ? "float(other[i]) - filtered"
                                                                               : "filtered - float(other[i])";
    body += "result = " + rounded_text(result.dtype(), difference) + ";";
    kernel_of(parameters, std::string(name(result.dtype())) + " result", body).fill(arguments);
  }

  const FilterRun& run_;
  const FilterWindow& window_;
  Device& device_;
  std::vector<double> outside_;
};

}  // namespace

void filter_by_kernel(const FilterRun& run) { KernelRun(run).launch_all(); }

}  // namespace iruka::image
