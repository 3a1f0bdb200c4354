// Filters as kernels: for devices without loops for them. Pictures of any sizes whose passes differ in nothing else
// than tables are one launch.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "image/filters/run.h"
#include "image/kernels/picture_job.h"
#include "image/launch_tables.h"
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

/// The taps of a window, or those along one of its axes, and what becomes of them.
struct Taps {
  const char* kind;
  bool is_exact = false;  ///< sums are integers
  std::vector<double> weights{0};
  std::vector<int32_t> tap_y{}, tap_x{};
  const char* finish = "value";  ///< of the sum `value`
  bool operator==(const Taps&) const = default;
};

std::vector<double> as_doubles(const auto& values) { return {values.begin(), values.end()}; }
std::vector<double> ones(int32_t count) { return std::vector<double>(static_cast<size_t>(count), 1.0); }

const ElementwiseKernel& kernel_of(const std::string& body) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(body, [&] {
    KernelOptions options;
    options.preamble = "#include \"image/kernels/filters.h\"\n";
    options.diagnose_early = false;
    return ElementwiseKernel("raw const uint8 jobs, int32 count", "", body, "filter_picture", options);
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

const char* boolean(bool value) { return value ? "true" : "false"; }

/// One pass over one picture: by all taps of a window, or along one of its axes.
struct Pass {
  const FilterRun* run;
  Taps taps;
  std::vector<double> outside;  ///< of each channel
  Array source, other, result;  ///< in C order; `other` is invalid without a difference

  int64_t channels() const { return run->shape.channels; }
  bool has_planes() const { return run->shape.layout == Layout::chw && !run->shape.is_flat; }
  /// Whether a thread has all channels of a pixel.
  bool has_pixels() const { return run->stage.window->kind == Kind::bilateral; }
  bool is_small() const { return source.size() < kMostSmall; }
  int64_t threads() const { return has_pixels() ? source.size() / channels() : source.size(); }

  /// The kernel's text, which is the same for passes that one launch may run.
  std::string body() const {
    const std::string number = taps.is_exact ? "int" : "float", planes = boolean(has_planes());
    const auto pointer = [](const std::string& type, const char* name) {
      return "const " + type + "* const " + name + " = (const " + type + "*)job." + name + ";\n";
    };
    std::string text = std::string("using namespace iruka; using namespace iruka::image; using Index = ") +
                       (is_small() ? "int" : "long long") +
                       ";\nconst ThreadOfPicture<FilterJob> thread = thread_of_picture((const FilterJob*)&jobs[0], "
                       "count, i);\nconst FilterJob& job = *thread.job;\nconst Index number = Index(thread.number);\n" +
                       pointer(info(source.dtype()).c_type, "source") + pointer(number, "outside") +
                       pointer(number, "weights") + "const WindowShape<Index> shape = shape_of<Index>(job);\n";
    const std::string inputs = "(source, outside, shape, job.tap_y, job.tap_x, weights, ";
    const std::string border = border_name(run->stage.border);
    if (!has_pixels())
      return text + "const Index at = number;\nconst " + number + " value = windowed<" + taps.kind + ", " + number +
             ", " + std::to_string(bits()) + ", " + border + ", " + planes + ">" + inputs + "window_place<" + planes +
             ">(shape, number));\n" + stored();
    const std::string count = std::to_string(channels());
    return text + "const Index y = number / shape.width, x = number - y * shape.width;\nfloat means[" + count +
           "];\nbilateral<" + count + ", " + border + ", " + planes + ">" + inputs +
           "job.scale, y, x, means);\nfor (int c = 0; c < " + count + "; ++c) {\nconst Index at = " +
           (has_planes() ? "c * shape.height * shape.width + number" : "number * " + count + " + c") +
           ";\nconst float value = means[c];\n" + stored() + "}\n";
  }

  /// `with_taps`: addresses of the same taps, of another picture.
  FilterJob job(LaunchTables<FilterJob>& tables, const FilterJob* with_taps) const {
    const FilterWindow& window = *run->stage.window;
    FilterJob made{};
    made.source = source.data();
    made.other = other.valid() ? other.data() : nullptr;
    made.result = result.data();
    made.outside = table(tables, outside);
    made.weights = with_taps ? with_taps->weights : table(tables, taps.weights);
    made.tap_y = with_taps ? with_taps->tap_y : tables.add(taps.tap_y);
    made.tap_x = with_taps ? with_taps->tap_x : tables.add(taps.tap_x);
    made.height = static_cast<int>(run->shape.height);
    made.width = static_cast<int>(run->shape.width);
    made.channels = static_cast<int>(channels());
    made.anchor_y = window.anchor_y;
    made.anchor_x = window.anchor_x;
    made.taps = static_cast<int>(taps.tap_y.size());
    const auto [first_y, last_y] = std::ranges::minmax(taps.tap_y);
    const auto [first_x, last_x] = std::ranges::minmax(taps.tap_x);
    made.first_y = first_y;
    made.last_y = last_y;
    made.first_x = first_x;
    made.last_x = last_x;
    made.scale = window.scale;
    return made;
  }

 private:
  int bits() const { return source.dtype() == Dtype::uint8 ? 8 : source.dtype() == Dtype::uint16 ? 16 : 32; }

  /// Statements that write what becomes of `value` to element `at`.
  std::string stored() const {
    const std::string type = info(result.dtype()).c_type, there = "float(((const " + type + "*)job.other)[at])";
    std::string filtered = "filtered";
    if (other.valid())
      filtered =
          run->stage.difference == Filtering::Difference::other_minus ? there + " - filtered" : "filtered - " + there;
    return std::string("const auto filtered = ") + taps.finish + ";\n((" + type +
           "*)job.result)[at] = " + rounded_text(result.dtype(), filtered) + ";\n";
  }

  const void* table(LaunchTables<FilterJob>& tables, const std::vector<double>& values) const {
    if (taps.is_exact) return tables.add(std::vector<int32_t>(values.begin(), values.end()));
    return tables.add(std::vector<float>(values.begin(), values.end()));
  }
};

/// The passes of a window: along its columns, then along its rows where it has two.
class PassesOf {
 public:
  PassesOf(const FilterRun& run, const Array& result)
      : run_(run), window_(*run.stage.window), result_(result), source_(run.source.contiguous()) {
    outside_ = as_doubles(run.stage.outside);
    if (outside_.size() == 1) outside_.resize(static_cast<size_t>(run.shape.channels), outside_.front());
  }

  std::vector<Pass> made() const {
    switch (window_.kind) {
      case Kind::sum: return one(of_taps("kSum"));
      case Kind::integer_sum: return one(of_taps("kSum", true));
      case Kind::median: return one(of_all("kMedian"));
      case Kind::bilateral: return one(of_taps(""));
      case Kind::least:
      case Kind::greatest: {
        const char* const kind = window_.kind == Kind::least ? "kLeast" : "kGreatest";
        if (!window_.is_full) return one(of_taps(kind));
        return two(run_.source.dtype(), kind, false, ones(window_.height), ones(window_.width), "value");
      }
      case Kind::separable:
        return two(Dtype::float32, "kSum", false, as_doubles(window_.rows), as_doubles(window_.columns), "value");
      case Kind::fixed:
        return two(Dtype::int32, "kSum", true, as_doubles(window_.integer_rows), as_doubles(window_.integer_columns),
                   "(value + 32768) >> 16");
      case Kind::integers:
        return two(Dtype::int32, "kSum", true, as_doubles(window_.integer_rows), as_doubles(window_.integer_columns),
                   "value");
      case Kind::box:
        return two(Dtype::int32, "kSum", true, ones(window_.height), ones(window_.width), "float(value) * job.scale");
    }
    return {};
  }

 private:
  Taps of_taps(const char* kind, bool is_exact = false) const {
    Taps taps{kind, is_exact, {}};
    for (const FilterWindow::Tap& tap : window_.taps) {
      taps.tap_y.push_back(tap.y);
      taps.tap_x.push_back(tap.x);
      taps.weights.push_back(static_cast<double>(tap.weight));
    }
    return taps;
  }
  Taps of_all(const char* kind) const {
    Taps taps{kind};
    for (int32_t y = 0; y < window_.height; ++y) {
      for (int32_t x = 0; x < window_.width; ++x) {
        taps.tap_y.push_back(y);
        taps.tap_x.push_back(x);
      }
    }
    return taps;
  }

  Pass last(Taps taps, const std::vector<double>& outside, const Array& source) const {
    return {&run_, std::move(taps), outside, source, run_.other.valid() ? run_.other.contiguous() : Array(), result_};
  }
  std::vector<Pass> one(Taps taps) const { return {last(std::move(taps), outside_, source_)}; }

  std::vector<Pass> two(Dtype between, const char* kind, bool is_exact, const std::vector<double>& down,
                        const std::vector<double>& across, const char* finish) const {
    Taps first{kind, is_exact, down}, second{kind, is_exact, across, {}, {}, finish};
    for (int32_t y = 0; y < window_.height; ++y) {
      first.tap_y.push_back(y);
      first.tap_x.push_back(window_.anchor_x);
    }
    for (int32_t x = 0; x < window_.width; ++x) {
      second.tap_y.push_back(window_.anchor_y);
      second.tap_x.push_back(x);
    }
    std::vector<double> outside = outside_;
    if (std::strcmp(kind, "kSum") == 0) {
      // What the first pass would make of constants alone.
      for (double& value : outside) {
        float sum = 0;
        double exact = 0;
        for (const double weight : down) {
          sum = std::fmaf(static_cast<float>(value), static_cast<float>(weight), sum);
          exact += value * weight;
        }
        value = is_exact ? exact : static_cast<double>(sum);
      }
    }
    const Array middle = Array::empty(source_.shape(), between, source_.device());
    return {Pass{&run_, std::move(first), outside_, source_, {}, middle}, last(std::move(second), outside, middle)};
  }

  const FilterRun& run_;
  const FilterWindow& window_;
  const Array result_, source_;
  std::vector<double> outside_;
};

void launch(std::span<const Pass* const> passes, const std::string& body, Device& device) {
  LaunchTables<FilterJob> tables(passes.size());
  std::vector<FilterJob> jobs;
  jobs.reserve(passes.size());
  int64_t threads = 0;
  const Pass* before = nullptr;
  for (const Pass* const pass : passes) {
    const bool has_same_taps = before && before->taps == pass->taps;
    const FilterJob job = pass->job(tables, has_same_taps ? &jobs.back() : nullptr);
    jobs.push_back(job);
    jobs.back().end = threads += pass->threads();
    before = pass;
  }
  const Array memory = tables.on(device, jobs, [](FilterJob& job, auto move) {
    move(job.outside);
    move(job.weights);
    move(job.tap_y);
    move(job.tap_x);
  });
  const Argument arguments[] = {memory, std::ssize(passes)};
  kernel_of(body).fill(arguments, {.size = threads});
}

/// Passes that do not read one another's results.
void launch_all(std::span<const Pass* const> passes) {
  std::map<std::pair<Device*, std::string>, std::vector<const Pass*>> groups;
  for (const Pass* const pass : passes) {
    if (pass->threads() > 0) groups[{&pass->source.device(), pass->body()}].push_back(pass);
  }
  for (const auto& [key, group] : groups) launch(group, key.second, *key.first);
}

}  // namespace

void filter_by_kernel(std::span<const FilterRun> runs) {
  std::vector<Array> results;
  std::vector<std::vector<Pass>> passes;
  for (const FilterRun& run : runs) {
    const Array& wanted = run.result;
    results.push_back(wanted.is_c_contiguous() ? wanted
                                               : Array::empty(wanted.shape(), wanted.dtype(), wanted.device()));
    passes.push_back(PassesOf(run, results.back()).made());
  }
  std::vector<const Pass*> firsts, seconds;
  for (const std::vector<Pass>& each : passes) {
    firsts.push_back(&each.front());
    if (each.size() > 1) seconds.push_back(&each.back());
  }
  launch_all(firsts);
  launch_all(seconds);
  for (size_t k = 0; k < runs.size(); ++k) {
    Array wanted = runs[k].result;
    if (!wanted.is_c_contiguous()) wanted.assign(results[k]);
  }
}

}  // namespace iruka::image
