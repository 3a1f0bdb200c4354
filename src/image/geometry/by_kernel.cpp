// Passes as kernels: for devices without loops for pictures.
#include <algorithm>
#include <cstring>
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

const ElementwiseKernel& kernel_of(const std::string& inputs, const std::string& output, const std::string& body) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(inputs + "|" + output + "|" + body, [&] {
    KernelOptions options;
    options.preamble = "#include \"image/kernels/resample.h\"\n";
    options.diagnose_early = false;
    return ElementwiseKernel(inputs, output, body, "resample_picture", options);
  });
}

/// The expression of a value before all steps.
std::string value_text(const char* kind, bool rounds) {
  return std::string("resampled<") + kind + (rounds ? ", true" : ", false") + ">(source, picture, rows, columns, outside, to)";
}

}  // namespace

void run_by_kernel(const PassRun& run) {
  const PassPlan& plan = run.plan;
  Device& device = run.source.device();
  const auto rows = axis_map(plan.rows), columns = axis_map(plan.columns);
  const bool selects = rows->selects && columns->selects;
  const bool is_fixed = !selects && plan.dtype == Dtype::uint8 && !rows->fixed.empty() && !columns->fixed.empty();
  const Array source = run.source.contiguous();
  const bool is_small = std::max(source.size(), run.result.size()) < kMostSmall &&
                        std::max(std::ssize(rows->weights), std::ssize(columns->weights)) < kMostSmall;
  const bool from_planes = plan.from.layout == Layout::chw && !plan.from.is_flat;
  const bool to_planes = plan.to.layout == Layout::chw && !plan.to.is_flat;
  const Text text = text_of_steps(plan, !selects && !is_fixed && plan.dtype != Dtype::float32);
  const std::string index = is_small ? "int32" : "int64", weights = is_fixed ? "int16" : "float32";
  const std::string inputs = std::string("raw const ") + name(plan.source_dtype) +
                             " source, raw const int32 start_y, raw const int32 count_y, raw const " + weights +
                             " weights_y, raw const int32 start_x, raw const int32 count_x, raw const " + weights +
                             " weights_x, raw const float32 outside, raw const float32 numbers, int32 taps_y, " +
                             "int32 taps_x, int32 channels, " + index + " first, " + index + " row, " + index +
                             " column, " + index + " channel, " + index + " middle, " + index + " last";
  const std::string output = std::string(name(plan.result_dtype)) + " result";
  const char* const kind = selects ? "kSelect" : is_fixed ? "kFixed" : "kReal";
  const std::string body =
      std::string("using namespace iruka::image; using Index = ") + (is_small ? "int" : "int64_t") +
      ";\nconst Picture<Index> picture{first, row, column, channel, channels};\n"
      "const Axis rows{start_y, count_y, weights_y, taps_y};\n"
      "const Axis columns{start_x, count_x, weights_x, taps_x};\n"
      "const Element<Index> to = element_at<" +
      (to_planes ? "true" : "false") + ", " + (plan.is_transposed ? "true" : "false") +
      ">(Index(i), middle, last);\nconst float value = " + value_text(kind, plan.rounds_columns()) + ";\nresult = " +
      info(plan.result_dtype).c_type + "(stepped<" + text.steps + ">(value, numbers, channels, to.channel));";
  std::vector<float> outside(static_cast<size_t>(plan.to.channels), plan.outside.front());
  if (plan.outside.size() > 1) outside = plan.outside;
  const DeviceMap y = device_map(*rows, device), x = device_map(*columns, device);
  const Array constants = on_device(outside, Dtype::float32, device);
  const Array numbers = on_device(text.numbers, Dtype::float32, device);
  const int64_t from_channels = plan.from.channels, width = plan.from.width, height = plan.from.height;
  const int64_t row = from_planes ? width : width * from_channels, column = from_planes ? 1 : from_channels;
  const int64_t channel = from_planes ? width * height : 1;
  const Dims shape = plan.to.dims();
  const int64_t last = plan.to.is_flat ? 1 : shape[2];
  const std::vector<Argument> arguments{source,
                                        y.start,
                                        y.count,
                                        is_fixed ? y.fixed : y.weights,
                                        x.start,
                                        x.count,
                                        is_fixed ? x.fixed : x.weights,
                                        constants,
                                        numbers,
                                        is_fixed ? rows->even_taps() : rows->taps,
                                        is_fixed ? columns->even_taps() : columns->taps,
                                        from_channels,
                                        plan.y * row + plan.x * column,
                                        row,
                                        column,
                                        channel,
                                        shape[1],
                                        last,
                                        run.result};
  kernel_of(inputs, output, body).fill(arguments);
}

}  // namespace iruka::image
