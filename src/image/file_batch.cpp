#include "image/file_batch.h"

#include <algorithm>
#include <optional>

#include "core/jpeg_decoding.h"
#include "core/thread_pool.h"
#include "image/decoding_streams.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/kernel.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

using Files = std::span<FileToDecode* const>;

/// Nanoseconds. Plans that are there already take less for a whole batch, so that no thread is woken for them: a GPU's
/// decoder takes all the time of the thread that calls it, and others disturb it.
constexpr int64_t kPlansAlone = 100'000;

/// Calls `step` for each number on all threads; an exception is its file's error.
template <class Step>
void for_each_file(Files files, Step step, LoopOptions options = {}) {
  const auto each = [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      FileToDecode& file = *files[i];
      if (file.item.error || file.item.picture.valid()) continue;
      try {
        step(i);
      } catch (const Interrupted&) {
        throw;
      } catch (...) {
        file.item.error = std::current_exception();
      }
    }
  };
  ThreadPool::instance().run(std::ssize(files), 1, each, options);
}

/// A plan, and what a device's decoder makes of the file.
struct PlannedFile {
  DecodePlan plan;
  std::optional<JpegDecoding::Color> color{};  ///< nothing where the decoder cannot take the file
  bool has_one_scan = false;
};

DecodePlan plan_of(FileToDecode& file) {
  if (file.read_for) {
    file.file = read_file(file.read_for, *file.path);
    file.bytes = {file.file.data.get(), file.file.size};
  }
  DecodePlan plan = file.plan ? *std::move(file.plan) : plan_decoding(file.bytes, *file.options, file.where);
  if (file.out) check_out(*file.out, plan, file.where);
  return plan;
}

PlannedFile planned_for_device(FileToDecode& file) {
  PlannedFile planned{plan_of(file)};
  const PixelFormat wanted = planned.plan.wanted;
  if (wanted.dtype != Dtype::uint8) return planned;
  const Decoder::DeviceForm form = planned.plan.decoder->device_form();
  if (form == Decoder::DeviceForm::none) return planned;
  planned.has_one_scan = form == Decoder::DeviceForm::one_scan;
  switch (wanted.color) {
    case Color::gray: planned.color = JpegDecoding::Color::gray; break;
    case Color::rgb: planned.color = JpegDecoding::Color::rgb; break;
    case Color::bgr: planned.color = JpegDecoding::Color::bgr; break;
    default: break;
  }
  return planned;
}

/// The files that a device's decoder may take.
class DeviceBatch {
 public:
  DeviceBatch(Device& device, Files files, std::span<const PlannedFile> plans)
      : device_(device), files_(files), plans_(plans) {
    for (size_t i = 0; i < files.size(); ++i) add(i);
  }

  void run(JpegDecoders& decoders) {
    decoders.decode(jobs_);
    for (size_t k = 0; k < jobs_.size(); ++k) {
      if (jobs_[k].is_done) finish(numbers_[k], std::move(pictures_[k]));
    }
  }

 private:
  static Dims whole_shape(const DecodePlan& plan) {
    const Header& header = plan.decoder->header();
    Dims shape = plan.stored_shape();
    shape[0] = header.height;
    shape[1] = header.width;
    return shape;
  }

  void add(size_t i) {
    FileToDecode& file = *files_[i];
    const auto& [plan, color, has_one_scan] = plans_[i];
    if (file.item.error || !color) return;
    const Header& header = plan.decoder->header();
    const bool in_place = file.out && !plan.chain && plan.divisor == 1 && plan.orientation == 1 &&
                          whole_shape(plan) == plan.stored_shape();
    try {
      pictures_.push_back(in_place ? *file.out : Array::empty(whole_shape(plan), Dtype::uint8, device_));
    } catch (...) {
      file.item.error = std::current_exception();
      return;
    }
    jobs_.push_back({.bytes = file.bytes,
                     .height = header.height,
                     .width = header.width,
                     .has_one_scan = has_one_scan,
                     .color = *color,
                     .result = pictures_.back().data()});
    numbers_.push_back(i);
  }

  /// From the whole picture as stored to the one that is wanted.
  void finish(size_t i, Array picture) {
    FileToDecode& file = *files_[i];
    const DecodePlan& plan = plans_[i].plan;
    if (plan.divisor > 1) picture = reduced_by_means(picture, plan.divisor);
    const Region& window = plan.window;
    const Array part =
        upright(picture.at(Slice{window.y, window.y + window.height}, Slice{window.x, window.x + window.width}),
                plan.orientation);
    if (!file.out || plan.chain) {
      file.item.picture = plan.chain ? part : part.contiguous();  // chains take any strides
      return;
    }
    file.item.picture = *file.out;
    if (picture.data() != file.out->data()) file.item.picture.assign(part);
  }

  Device& device_;
  const Files files_;
  const std::span<const PlannedFile> plans_;
  std::vector<JpegDecoding> jobs_;
  std::vector<Array> pictures_;  ///< of each job
  std::vector<size_t> numbers_;  ///< of each job: its file's
};

/// The chains of all decoded files, together.
void apply_chains_of(std::span<PlannedFile> plans, Files files) {
  std::vector<Chain> chains;
  std::vector<Array> pictures, outs;
  std::vector<FileToDecode*> decoded;
  for (size_t i = 0; i < files.size(); ++i) {
    FileToDecode& file = *files[i];
    if (file.item.error) continue;
    chains.push_back(*std::move(plans[i].plan.chain));
    pictures.push_back(std::move(file.item.picture));
    outs.push_back(file.out ? *file.out : Array());
    decoded.push_back(&file);
  }
  if (decoded.empty()) return;
  std::vector<Array> results = apply_chains(chains, pictures, outs);
  for (size_t k = 0; k < decoded.size(); ++k) decoded[k]->item.picture = std::move(results[k]);
}

/// Files for which a device's decoder is of no use, or that it did not take.
void decode_rest_by_cpu(Device& device, std::span<const PlannedFile> plans, Files files) {
  const auto is_rest = [](const FileToDecode* file) { return !file->item.error && !file->item.picture.valid(); };
  if (std::ranges::none_of(files, is_rest)) return;
  std::vector<Array> pictures(files.size());
  for_each_file(files, [&](size_t i) { pictures[i] = decode_by_cpu(plans[i].plan, nullptr); });
  for (size_t i = 0; i < files.size(); ++i) {
    if (!pictures[i].valid()) continue;
    FileToDecode& file = *files[i];
    try {
      const bool has_out = file.out && !plans[i].plan.chain;
      file.item.picture = has_out ? *file.out : pictures[i].to_device(device);
      if (has_out) file.item.picture.assign(pictures[i]);
    } catch (const OutOfMemoryError&) {
      file.item = {.picture = {}, .error = std::current_exception()};
    }
  }
}

/// Fills the items on a device with memory of its own. All files have a chain, or none.
void decode_on(Device& device, Files files, std::span<PlannedFile> plans) {
  const bool has_chains = files.front()->options->chain != nullptr;
  JpegDecoders* const decoders = device.find_service<JpegDecoders>();
  const bool is_ready = decoders && decoders->problem().empty();
  std::optional<DecodingStream> beside;  // while the chain reads the pictures
  if (is_ready && has_chains && !device.is_capturing(device.current_stream())) {
    beside.emplace(device);
    const StreamScope scope(beside->stream());
    DeviceBatch(device, files, plans).run(*decoders);
  } else if (is_ready) {
    DeviceBatch(device, files, plans).run(*decoders);
  }
  decode_rest_by_cpu(device, plans, files);
  if (beside) beside->join();
  if (has_chains) apply_chains_of(plans, files);
}

}  // namespace

void decode_files(Device& device, std::span<FileToDecode> files) {
  std::vector<FileToDecode*> whole, chained;
  for (FileToDecode& file : files) (file.options->chain ? chained : whole).push_back(&file);
  if (&device == &cpu()) {
    for_each_file(whole, [&](size_t i) { whole[i]->item.picture = decode_by_cpu(plan_of(*whole[i]), whole[i]->out); });
    for_each_file(chained, [&](size_t i) {
      chained[i]->item.picture = decode_with_chain(plan_of(*chained[i]), chained[i]->out);
    });
    return;
  }
  const auto decode = [&](Files group, size_t together) {
    std::vector<PlannedFile> plans(group.size());
    for_each_file(group, [&](size_t i) { plans[i] = planned_for_device(*group[i]); }, {.alone = kPlansAlone});
    for (size_t begin = 0; begin < group.size(); begin += together) {
      const size_t count = std::min(together, group.size() - begin);
      decode_on(device, group.subspan(begin, count), std::span(plans).subspan(begin, count));
    }
  };
  decode(whole, std::max<size_t>(whole.size(), 1));
  decode(chained, JpegDecoders::kMostTogether);  // an engine decodes the next files while chains run
}

JpegDecoderInfo jpeg_decoder(Device& device) {
  JpegDecoders* const decoders = device.find_service<JpegDecoders>();
  if (!decoders) return {"libjpeg", ""};
  const std::string& problem = decoders->problem();
  return problem.empty() ? JpegDecoderInfo{decoders->name(), ""} : JpegDecoderInfo{"libjpeg", problem};
}

Array reduced_by_means(const Array& picture, int64_t divisor) {
  static constinit ops::PermanentCache<int64_t, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get(divisor, [&] {
    return ElementwiseKernel(
        "raw const uint8 picture, int64 height, int64 width, int64 channels", "uint8 result",
        "result = iruka::image::mean_of_block<" + std::to_string(divisor) + ">(picture, height, width, channels, i);",
        "reduce_picture", {.preamble = "#include \"image/kernels/reduce.h\"\n", .diagnose_early = false});
  });
  const int64_t height = picture.shape(0), width = picture.shape(1);
  const int64_t channels = picture.ndim() == 3 ? picture.shape(2) : 1;
  Dims shape = picture.shape();
  shape[0] = divided_up(height, divisor);
  shape[1] = divided_up(width, divisor);
  const Array result = Array::empty(shape, Dtype::uint8, picture.device());
  kernel(picture, height, width, channels, result);
  return result;
}

}  // namespace iruka::image
