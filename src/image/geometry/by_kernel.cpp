// Passes as kernels, for devices without loops for pictures. Pictures of any sizes whose passes differ in nothing else
// are one launch.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/device.h"
#include "core/thread_pool.h"
#include "image/geometry/run.h"
#include "image/kernels/picture_job.h"
#include "image/launch_tables.h"
#include "iruka/device.h"
#include "iruka/kernel.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

constexpr int64_t kMostSmall = int64_t{1} << 30;  ///< elements that are counted by int

const char* sample_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8: return "kUint8";
    case Dtype::uint16: return "kUint16";
    case Dtype::float16: return "kFloat16";
    default: return "kFloat32";
  }
}
const char* filter_name(Filter filter) {
  return filter == Filter::nearest ? "kNearest" : filter == Filter::cubic ? "kCubic" : "kLinear";
}
const char* boolean(bool value) { return value ? "true" : "false"; }

const ElementwiseKernel& kernel_of(const std::string& body, bool has_colors) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(body, [&] {
    KernelOptions options{.preamble = "#include \"image/kernels/warp.h\"\n", .diagnose_early = false};
    if (has_colors) {
      options.preamble = "#include \"image/kernels/color_pixel.h\"\n";
      options.options = {"--fmad=false"};  // as the CPU's loops are compiled
    }
    return ElementwiseKernel("raw const uint8 jobs, int32 count", "", body, "resample_picture", options);
  });
}

/// Steps that see whole pixels, as statements about the variable `pixel`.
class ColorText {
 public:
  explicit ColorText(int64_t channels) : now_(channels), most_(channels) {}

  void add(const PointStep& step) {
    const std::string own = sample_name(step.dtype), channels = std::to_string(now_);
    const std::string outputs = std::to_string(step.outputs);
    switch (step.kind) {
      case PointStep::Kind::round: write("round_pixel", {channels, own}); break;
      case PointStep::Kind::normalize:
        write("normalize_pixel", {channels}, numbers_here());
        spread(step.mean, now_);
        spread(step.scale, now_);
        break;
      case PointStep::Kind::affine:
        write("scale_pixel", {channels, own}, numbers_here());
        spread(step.scale, now_);
        spread(step.offset, now_);
        break;
      case PointStep::Kind::gamma:
        write("gamma_pixel", {channels, own}, numbers_here());
        numbers_.insert(numbers_.end(), {step.gain, step.exponent});
        break;
      case PointStep::Kind::matrix:
        write("multiply_pixel", {channels, outputs, own}, numbers_here());
        numbers_.insert(numbers_.end(), step.scale.begin(), step.scale.end());
        spread(step.offset, step.outputs);
        break;
      case PointStep::Kind::convert:
        write("convert_pixel", {std::to_string(static_cast<int>(step.conversion)), channels, outputs, own,
                                boolean(step.reverses_inputs), boolean(step.reverses_outputs)});
        break;
      case PointStep::Kind::lookup: add_lookup(step.table); break;
    }
    if (step.is_color()) now_ = step.outputs;
    most_ = std::max(most_, now_);
  }

  const std::string& statements() const { return statements_; }
  const std::vector<float>& numbers() const { return numbers_; }
  const std::vector<Array>& lookups() const { return lookups_; }
  int64_t channels() const { return most_; }  ///< the most that a pixel has

 private:
  /// A table in the CPU's memory becomes part of the numbers.
  void add_lookup(const Array& table) {
    const std::string levels = std::to_string(table.shape(1)), has_rows = boolean(table.shape(0) > 1);
    if (table.device().target().is_host) {
      write("look_up_pixel", {std::to_string(now_), levels, has_rows}, numbers_here());
      const float* const values = static_cast<const float*>(table.data());
      numbers_.insert(numbers_.end(), values, values + table.size());
    } else {
      write("look_up_pixel", {std::to_string(now_), levels, has_rows},
            ", job.lookups[" + std::to_string(lookups_.size()) + "]");
      lookups_.push_back(table);
    }
  }
  std::string numbers_here() const { return ", job.numbers + " + std::to_string(numbers_.size()); }
  void write(const char* function, std::initializer_list<std::string> parameters, const std::string& argument = {}) {
    std::string list;
    for (const std::string& parameter : parameters) list += (list.empty() ? "" : ", ") + parameter;
    statements_ += std::string(function) + "<" + list + ">(pixel" + argument + ");\n";
  }
  void spread(const std::vector<float>& values, int64_t count) {
    for (int64_t c = 0; c < count; ++c) numbers_.push_back(values[values.size() == 1 ? 0 : static_cast<size_t>(c)]);
  }

  std::string statements_;
  std::vector<float> numbers_;
  std::vector<Array> lookups_;
  int64_t now_, most_;
};

/// What a launch reads beside its pictures.
class Tables {
 public:
  explicit Tables(size_t jobs) : all_(jobs) {}

  template <class T>
  const T* add(const std::vector<T>& values) {
    return all_.add(values);
  }

  /// The numbers of a picture's steps, which are often those of the one before it.
  const float* add_numbers(const std::vector<float>& numbers) {
    if (!last_numbers_ || numbers != *last_numbers_) place_ = all_.add(numbers);
    last_numbers_ = numbers;
    return place_;
  }

  AxisTables add(const AxisMap& map, bool is_fixed) {
    const auto [found, is_new] = maps_.try_emplace({map.id, is_fixed});
    if (is_new) {
      const void* const weights = is_fixed ? static_cast<const void*>(add(map.fixed)) : add(map.weights);
      found->second = {add(map.start), add(map.count), weights, is_fixed ? map.even_taps() : map.taps};
    }
    return found->second;
  }

  Array on(Device& device, std::vector<PictureJob>& jobs) {
    return all_.on(device, jobs, [](PictureJob& job, auto move) {
      for (AxisTables* const axis : {&job.rows, &job.columns}) {
        move(axis->start);
        move(axis->count);
        move(axis->weights);
      }
      move(job.outside);
      move(job.numbers);
      move(job.lookups);
      move(job.places);
    });
  }

 private:
  LaunchTables<PictureJob> all_;
  std::map<std::pair<uint64_t, bool>, AxisTables> maps_;  ///< by their ids and whether weights are integers
  std::optional<std::vector<float>> last_numbers_;
  const float* place_ = nullptr;  ///< of these
};

/// One pass over one picture.
class KernelPass {
 public:
  explicit KernelPass(const PassRun& run)
      : run_(run),
        plan_(run.plan),
        rows_(axis_map(plan_.rows)),
        columns_(axis_map(plan_.columns)),
        source_(has_whole_strides(run.source) ? run.source : run.source.copy()),
        from_(strides_of(source_, plan_.from)),
        to_(strides_of(run.result, plan_.to)) {
    const bool selects = rows_->selects && columns_->selects;
    is_fixed_ =
        !plan_.warp && !selects && plan_.dtype == Dtype::uint8 && !rows_->fixed.empty() && !columns_->fixed.empty();
    kind_ = selects ? "kSelect" : is_fixed_ ? "kFixed" : "kReal";
    if (std::ranges::any_of(plan_.steps, &PointStep::is_color)) write_colors();
    const int64_t channels = colors_ ? plan_.from.channels : plan_.to.channels;
    group_ = channels <= 4 ? channels : 1;
    const int64_t weights = std::max(std::ssize(rows_->weights), std::ssize(columns_->weights));
    const int64_t span = std::abs(from_.row) * plan_.from.height + std::abs(from_.column) * plan_.from.width +
                         std::abs(from_.channel) * plan_.from.channels;
    const int64_t maps = run.map_x.valid() ? run.map_x.size() : 0;
    is_small_ = std::max({span / source_.itemsize(), run.result.size(), weights, maps}) < kMostSmall;
  }

  /// The kernel's text, which is the same for passes that one launch may run.
  std::string body() const {
    const std::string group = std::to_string(group_), result = info(plan_.result_dtype).c_type;
    const bool to_planes = plan_.to.layout == Layout::chw && !plan_.to.is_flat;
    const std::string text =
        std::string("using namespace iruka::image; using Index = ") + (is_small_ ? "int" : "long long") +
        ";\nconst ThreadOfPicture<PictureJob> thread = thread_of_picture((const PictureJob*)&jobs[0], count, "
        "i);\nconst PictureJob& job = *thread.job;\nconst Output<Index> output = output_at<" +
        (colors_ ? "0" : group) + ", " + boolean(to_planes) + ", " + boolean(plan_.is_transposed) +
        ">(job, Index(thread.number));\n";
    if (!colors_)
      return text + values_text(group, "output.channel") + "store<" + result + ", " + steps_text() +
             ">(job, output, values);";
    return text + "float pixel[" + std::to_string(colors_->channels()) + "];\nfor (int channel = 0; channel < " +
           std::to_string(plan_.from.channels) + "; channel += " + group + ") {\n" + values_text(group, "channel") +
           "for (int c = 0; c < " + group + "; ++c) pixel[channel + c] = values.of[c];\n}\n" + colors_->statements() +
           "store_pixel<" + result + ", " + std::to_string(plan_.to.channels) + ">(job, output, pixel);";
  }
  bool has_colors() const { return colors_.has_value(); }

  int64_t threads() const { return plan_.to.height * plan_.to.width * (group_ > 1 || colors_ ? 1 : plan_.to.channels); }

  PictureJob job(Tables& tables) const {
    PictureJob job{};
    const int64_t item = source_.itemsize(), to_item = run_.result.itemsize();
    job.source = static_cast<const char*>(source_.data()) + plan_.y * from_.row + plan_.x * from_.column;
    job.result = run_.result.data();
    job.rows = tables.add(*rows_, is_fixed_);
    job.columns = tables.add(*columns_, is_fixed_);
    std::vector<float> outside(static_cast<size_t>(plan_.from.channels), plan_.outside.front());
    if (plan_.outside.size() > 1) outside = plan_.outside;
    job.outside = tables.add(outside);
    job.numbers = tables.add_numbers(colors_ ? colors_->numbers() : numbers());
    std::vector<const float*> lookups;
    lookups.reserve(lookups_.size());
    for (const Array& table : lookups_) lookups.push_back(static_cast<const float*>(table.data()));
    if (!lookups.empty()) job.lookups = tables.add(lookups);
    job.row = from_.row / item;
    job.column = from_.column / item;
    job.channel = from_.channel / item;
    job.result_row = to_.row / to_item;
    job.result_column = to_.column / to_item;
    job.result_channel = to_.channel / to_item;
    job.result_height = static_cast<int>(plan_.to.height);
    job.result_width = static_cast<int>(plan_.to.width);
    job.channels = static_cast<int>(plan_.to.channels);
    if (plan_.warp) add_warp(job, tables);
    return job;
  }

 private:
  bool has_whole_strides(const Array& array) const {
    return std::ranges::all_of(array.strides(), [&](int64_t stride) { return stride % array.itemsize() == 0; });
  }

  /// Statements that set `values`: some channels of an output from `channel` on.
  std::string values_text(const std::string& group, const std::string& channel) const {
    const std::string type = info(plan_.source_dtype).c_type;
    return "Values<" + group + "> values = outside_of<" + group + ">(job, " + channel +
           ");\nconst Index y = job.rows.start[output.y], x = job.columns.start[output.x];\n"
           "if (y >= 0 && x >= 0) {\n  const " +
           type + "* const source = source_at<" + type + ">(job, " + channel +
           ");\n  values = " + (plan_.warp ? warp_text(group, channel) : resample_text(group)) + ";\n}\n";
  }

  std::string resample_text(const std::string& group) const {
    return std::string("resampled<") + kind_ + ", " + boolean(plan_.rounds_columns()) + ", " + group +
           ">(job, source, output.y, output.x)";
  }

  std::string warp_text(const std::string& group, const std::string& channel) const {
    const std::string place =
        run_.map_x.valid()
            ? "mapped_place(job, y, x)"
            : std::string("place_of<") + boolean(WarpNumbers::divides_places(*plan_.warp)) + ">(job, y, x)";
    return std::string("warped<") + filter_name(plan_.warp->filter) + ", " +
           std::to_string(static_cast<int>(plan_.warp->border)) + ", " + boolean(plan_.dtype == Dtype::uint8) + ", " +
           group + ", Index>(job, source, " + place + ", " + channel + ")";
  }

  /// Whether values are sums of floats, which then are rounded to the dtype of the picture.
  bool rounds_first() const {
    const bool are_sums = plan_.warp ? plan_.warp->filter != Filter::nearest && plan_.dtype != Dtype::uint8
                                     : !(rows_->selects && columns_->selects) && !is_fixed_;
    return are_sums && plan_.dtype != Dtype::float32;
  }

  void write_colors() {
    colors_.emplace(plan_.from.channels);
    if (rounds_first()) colors_->add({.kind = PointStep::Kind::round, .dtype = plan_.dtype});
    for (const PointStep& step : plan_.steps) colors_->add(step);
    colors_->add({.kind = PointStep::Kind::round, .dtype = plan_.result_dtype});
    for (const Array& table : colors_->lookups()) lookups_.push_back(table.to_device(run_.source.device()));
  }

  /// The template arguments of steps.
  std::string steps_text() const {
    std::string text;
    const auto add = [&](const char* step) { text += (text.empty() ? "" : ", ") + std::string(step); };
    if (rounds_first()) add(sample_name(plan_.dtype));
    for (const PointStep& step : plan_.steps)
      add(step.kind == PointStep::Kind::round ? sample_name(step.dtype) : "kNormalize");
    add(sample_name(plan_.result_dtype));
    return text;
  }

  /// Rows of means and of scales for all channels.
  std::vector<float> numbers() const {
    std::vector<float> made;
    for (const PointStep& step : plan_.steps) {
      if (step.kind != PointStep::Kind::normalize) continue;
      for (const std::vector<float>* row : {&step.mean, &step.scale}) {
        for (size_t c = 0; c < static_cast<size_t>(plan_.to.channels); ++c)
          made.push_back((*row)[row->size() == 1 ? 0 : c]);
      }
    }
    return made;
  }

  void add_warp(PictureJob& job, Tables& tables) const {
    job.height = static_cast<int>(plan_.height);
    job.width = static_cast<int>(plan_.width);
    if (run_.map_x.valid()) {
      job.map_y = static_cast<const float*>(run_.map_y.data());
      job.map_x = static_cast<const float*>(run_.map_x.data());
      job.map_line = run_.map_x.shape(1);
      return;
    }
    const WarpNumbers numbers(*plan_.warp, plan_.rows.in);
    job.across_x = numbers.column[0];
    job.across_y = numbers.column[1];
    job.across = numbers.column[2];
    job.places = tables.add(numbers.rows);
  }

  const PassRun& run_;
  const PassPlan& plan_;
  const std::shared_ptr<const AxisMap> rows_, columns_;
  const Array source_;
  const Strides from_, to_;
  std::optional<ColorText> colors_;  ///< where steps see whole pixels
  std::vector<Array> lookups_;       ///< its tables on the device
  const char* kind_;
  int64_t group_;  ///< channels of one thread
  bool is_fixed_, is_small_;
};

/// Parts of random sizes need maps of their own, which all threads make.
void make_maps(std::span<const PassRun> runs) {
  constexpr int64_t kAlone = 20'000;  // nanoseconds, in which maps that are kept are found
  const auto make = [&](int64_t begin, int64_t end) {
    for (const PassRun& run : runs.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))) {
      axis_map(run.plan.rows);
      axis_map(run.plan.columns);
    }
  };
  ThreadPool::instance().run(std::ssize(runs), 1, make, {.alone = kAlone});
}

void launch(std::span<const KernelPass* const> passes, const std::string& body, Device& device) {
  Tables tables(passes.size());
  std::vector<PictureJob> jobs;
  jobs.reserve(passes.size());
  int64_t threads = 0;
  for (const KernelPass* const pass : passes) {
    jobs.push_back(pass->job(tables));
    jobs.back().end = threads += pass->threads();
  }
  const Array memory = tables.on(device, jobs);
  const Argument arguments[] = {memory, std::ssize(passes)};
  kernel_of(body, passes.front()->has_colors()).fill(arguments, {.size = threads});
}

}  // namespace

void run_by_kernel(std::span<const PassRun> runs) {
  make_maps(runs);
  std::vector<KernelPass> passes;
  passes.reserve(runs.size());
  std::map<std::pair<Device*, std::string>, std::vector<const KernelPass*>> groups;
  for (const PassRun& run : runs) {
    const KernelPass& pass = passes.emplace_back(run);
    groups[{&run.source.device(), pass.body()}].push_back(&pass);
  }
  for (const auto& [key, group] : groups) launch(group, key.second, *key.first);
}

}  // namespace iruka::image
