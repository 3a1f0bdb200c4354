#include "backend/cpu/color_steps.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cpu/resample_tables.h"
#include "core/device.h"

namespace iruka::cpu_backend {
namespace {

constexpr size_t kVector = 16;

float number_of(const std::vector<float>& numbers, int64_t channel) {
  return numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

/// Row of a table for a channel.
const float* row_of(const Array& table, int64_t channel) {
  return static_cast<const float*>(table.data()) + (table.shape(0) == 1 ? 0 : channel * table.shape(1));
}

constexpr size_t kMostMixed = 256;  ///< channels of a matrix

/// Pointers to planes, red first or blue first.
template <class T>
std::array<T*, kMostMixed> pointers(Planes planes, int64_t channels, bool reverses) {
  std::array<T*, kMostMixed> made;
  for (int64_t c = 0; c < channels; ++c)
    made[static_cast<size_t>(c)] = reinterpret_cast<T*>(planes.first + c * planes.stride);
  if (reverses) std::swap(made[0], made[2]);
  return made;
}

}  // namespace

const ColorLoops& color_loops() {
#if defined(__x86_64__)
  if (&resample_loops() == &avx512::resample_loops) return avx512::color_loops;
  if (&resample_loops() == &avx2::resample_loops) return avx2::color_loops;
#endif
  return baseline::color_loops;
}

bool ColorSteps::are_of_values(const std::vector<PointStep>& steps) {
  return std::ranges::all_of(steps, [](const PointStep& step) {
    switch (step.kind) {
      case PointStep::Kind::normalize: return step.mean.size() == 1 && step.scale.size() == 1;
      case PointStep::Kind::affine: return step.scale.size() == 1 && step.offset.size() == 1;
      case PointStep::Kind::lookup: return step.table.shape(0) == 1;
      case PointStep::Kind::matrix:
      case PointStep::Kind::convert: return false;
      default: return true;
    }
  });
}

ColorSteps::ColorSteps(const Resampling& job, Sample staged, Sample result, bool as_values)
    : loops_(color_loops()),
      rows_(resample_loops()),
      channels_(as_values ? 1 : job.all_channels()),
      as_values_(as_values),
      stored_(staged),
      now_(channels_) {
  if (staged == Sample::float32 && job.dtype != Dtype::float32)
    pending_.push_back({.rounds = true, .sample = sample_of(job.dtype)});
  numbers_.reserve(2 * job.steps.size());
  for (const PointStep& step : job.steps) {
    if (step.is_color()) {
      add_color(step);
    } else if (step.kind == PointStep::Kind::round) {
      pending_.push_back({.rounds = true, .sample = sample_of(step.dtype)});
    } else {
      const auto spread = [&](const std::vector<float>& values) {
        std::vector<float>& made = numbers_.emplace_back();
        for (int64_t c = 0; c < now_; ++c) made.insert(made.end(), kVector, number_of(values, c));
        return made.data();
      };
      pending_.push_back({.mean = spread(step.mean), .scale = spread(step.scale)});
    }
  }
  finish_to(result);
  choose_pixel_step(job.steps, staged, result);
}

void ColorSteps::choose_pixel_step(const std::vector<PointStep>& steps, Sample staged, Sample result) {
  const PointStep& step = steps.front();
  const bool mixes = step.kind == PointStep::Kind::matrix && step.inputs == 3 && step.outputs == 3;
  const bool is_one = steps.size() == 1 && staged == sample_of(step.dtype) && result == staged;
  if (!is_one || (!mixes && step.kind != PointStep::Kind::convert)) return;
  if (staged == Sample::uint8) run_pixels_ = loops_.byte_pixels;
  if (staged == Sample::uint16) run_pixels_ = loops_.word_pixels;
  if (staged == Sample::float32) run_pixels_ = loops_.float_pixels;
  pixel_step_ = {.conversion = step.conversion,
                 .range = color_range(step.dtype),
                 .reverses_inputs = step.reverses_inputs,
                 .reverses_outputs = step.reverses_outputs,
                 .matrix = mixes ? step.scale.data() : nullptr};
  if (staged == Sample::float16 && !mixes && only_moves(step.conversion)) {
    constexpr float kBitsOfOne = 0x3c00;
    run_pixels_ = loops_.word_pixels;
    pixel_step_.range.most = kBitsOfOne;
  }
  for (int64_t c = 0; mixes && c < 3; ++c) pixel_step_.offset[c] = number_of(step.offset, c);
}

/// Values go on as `sample`, which holds them exactly.
void ColorSteps::finish_to(Sample sample) {
  if (pending_.empty() && stored_ == sample) return;
  actions_.push_back({.from = stored_, .to = sample, .inputs = now_, .outputs = now_, .finish = pending_});
  pending_.clear();
  stored_ = sample;
}

void ColorSteps::add_color(const PointStep& step) {
  const Sample own = sample_of(step.dtype);
  const bool looks_up = step.kind == PointStep::Kind::lookup;
  const bool mixes = step.kind == PointStep::Kind::convert || step.kind == PointStep::Kind::matrix;
  const bool has_bytes = mixes && own == Sample::uint8;
  const bool is_wide = looks_up && step.table.shape(1) > 256;
  finish_to(has_bytes ? own : looks_up ? (is_wide ? Sample::uint16 : Sample::uint8) : Sample::float32);
  Action action{.color = &step, .from = stored_, .inputs = now_, .outputs = as_values_ ? 1 : step.outputs};
  const bool has_byte_tables = looks_up && !is_wide && own == Sample::uint8;
  action.to = has_bytes || has_byte_tables ? Sample::uint8 : Sample::float32;
  for (int64_t row = 0; has_byte_tables && row < step.table.shape(0); ++row) {
    std::vector<uint8_t>& table = action.bytes.emplace_back();
    for (int64_t k = 0; k < step.table.shape(1); ++k) table.push_back(static_cast<uint8_t>(row_of(step.table, row)[k]));
  }
  stored_ = action.to;
  now_ = action.outputs;
  channels_ = std::max(channels_, now_);
  actions_.push_back(std::move(action));
  if (stored_ == Sample::float32 && own != Sample::float32) pending_.push_back({.rounds = true, .sample = own});
}

Planes ColorSteps::run(Planes from, int64_t pixels, Planes to, bool has_target, char* memory) const {
  Planes now = from;
  for (size_t k = 0; k < actions_.size(); ++k) {
    const bool is_last = k + 1 == actions_.size();
    const Planes next =
        is_last && has_target ? to : Planes{memory + static_cast<int64_t>(k % 2) * channels_ * kLine, kLine};
    actions_[k].color ? color_planes(actions_[k], now, pixels, next) : finish_planes(actions_[k], now, pixels, next);
    now = next;
  }
  return now;
}

void ColorSteps::finish_planes(const Action& action, Planes from, int64_t pixels, Planes to) const {
  std::vector<FinishStep> steps = action.finish;
  const Finish finish{
      .from = action.from, .to = action.to, .steps = steps.data(), .step_count = static_cast<int>(steps.size())};
  for (int64_t c = 0; c < action.inputs; ++c) {
    rows_.finish(finish, from.first + c * from.stride, pixels, to.first + c * to.stride);
    for (FinishStep& step : steps) {
      if (step.rounds) continue;
      step.mean += kVector;
      step.scale += kVector;
    }
  }
}

void ColorSteps::look_up(const Action& action, Planes from, int64_t pixels, Planes to) const {
  for (int64_t c = 0; c < action.inputs; ++c) {
    char* const source = from.first + c * from.stride;
    char* const target = to.first + c * to.stride;
    if (action.bytes.empty()) {
      loops_.lookup(source, action.from == Sample::uint16, row_of(action.color->table, c),
                    reinterpret_cast<float*>(target), pixels);
      continue;
    }
    const std::vector<uint8_t>& table = action.bytes[action.bytes.size() == 1 ? 0 : static_cast<size_t>(c)];
    loops_.lookup_bytes(reinterpret_cast<const uint8_t*>(source), table.data(), reinterpret_cast<uint8_t*>(target),
                        pixels);
  }
}

void ColorSteps::color_planes(const Action& action, Planes from, int64_t pixels, Planes to) const {
  const PointStep& step = *action.color;
  using Kind = PointStep::Kind;
  if (step.kind == Kind::lookup) return look_up(action, from, pixels, to);
  if (action.from == Sample::uint8) {
    const auto inputs = pointers<const uint8_t>(from, action.inputs, step.reverses_inputs);
    const auto outputs = pointers<uint8_t>(to, action.outputs, step.reverses_outputs);
    if (step.kind == Kind::convert) return loops_.convert_bytes(step.conversion, inputs.data(), outputs.data(), pixels);
    for (int64_t c = 0; c < action.outputs; ++c)
      loops_.matrix_bytes(inputs.data(), action.inputs, step.scale.data() + c * action.inputs,
                          number_of(step.offset, c), outputs[static_cast<size_t>(c)], pixels);
    return;
  }
  const ColorRange range = color_range(step.dtype);
  const auto plane = [](Planes planes, int64_t c) {
    return reinterpret_cast<float*>(planes.first + c * planes.stride);
  };
  if (step.kind == Kind::affine || step.kind == Kind::gamma) {
    for (int64_t c = 0; c < action.outputs; ++c) {
      if (step.kind == Kind::affine)
        loops_.affine(plane(from, c), number_of(step.scale, c), number_of(step.offset, c), plane(to, c), pixels);
      else
        loops_.gamma(plane(from, c), range.most, step.gain, step.exponent, plane(to, c), pixels);
    }
    return;
  }
  const auto inputs = pointers<const float>(from, action.inputs, step.reverses_inputs);
  const auto outputs = pointers<float>(to, action.outputs, step.reverses_outputs);
  if (step.kind == Kind::convert)
    return loops_.convert_floats(step.conversion, range, inputs.data(), outputs.data(), pixels);
  for (int64_t c = 0; c < action.outputs; ++c)
    loops_.matrix(inputs.data(), action.inputs, step.scale.data() + c * action.inputs, number_of(step.offset, c),
                  outputs[static_cast<size_t>(c)], pixels);
}

}  // namespace iruka::cpu_backend
