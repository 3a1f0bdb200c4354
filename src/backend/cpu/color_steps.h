// The steps of a pass that see whole pixels: colours. They are applied to planes of a part of a row at a time.
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/color_job.h"
#include "backend/cpu/resample_job.h"
#include "core/resampling.h"

namespace iruka::cpu_backend {

/// Where the planes of some pixels begin.
struct Planes {
  char* first = nullptr;
  int64_t stride = 0;  ///< bytes from plane to plane
};

class ColorSteps {
 public:
  /// `job`, whose steps these are, must live as long. `staged` is how values are stored before them. With `as_values`,
  /// which needs are_of_values(), all values are one plane, whatever their channels.
  ColorSteps(const Resampling& job, Sample staged, Sample result, bool as_values);

  /// Whether the steps do the same to all channels, each apart.
  static bool are_of_values(const std::vector<PointStep>& steps);

  /// Bytes of memory for run().
  int64_t scratch_bytes() const { return 2 * channels_ * kLine; }
  /// Pixels of one call of run() at most.
  static constexpr int64_t kPixels = 960;
  /// Whether run_pixels() may be called: a single conversion, or matrix of three by three; of float16, a
  /// conversion that only moves values.
  bool has_pixel_step() const { return run_pixels_ != nullptr; }
  /// Applies all steps to pixels whose channels are neighbours, before and after them.
  void run_pixels(const char* from, int64_t pixels, char* to) const { run_pixels_(pixel_step_, from, pixels, to); }
  /// Applies all steps. The result is in `to`, or in the memory where that is returned.
  Planes run(Planes from, int64_t pixels, Planes to, bool has_target, char* memory) const;

 private:
  /// No multiple of 4096, so that planes do not share the places of the cache.
  static constexpr int64_t kLine = kPixels * 4 + kRowRoom + 64;

  /// One loop over planes: of a colour step, or of conversions and normalisations.
  struct Action {
    const PointStep* color = nullptr;
    Sample from, to;
    int64_t inputs, outputs;
    std::vector<FinishStep> finish{};
    std::vector<std::vector<uint8_t>> bytes{};  ///< tables of uint8
  };
  void choose_pixel_step(const std::vector<PointStep>& steps, Sample staged, Sample result);
  void add_color(const PointStep& step);
  void finish_to(Sample sample);
  void finish_planes(const Action& action, Planes from, int64_t pixels, Planes to) const;
  void color_planes(const Action& action, Planes from, int64_t pixels, Planes to) const;
  void look_up(const Action& action, Planes from, int64_t pixels, Planes to) const;

  const ColorLoops& loops_;
  const ResampleLoops& rows_;
  PixelStep pixel_step_;
  void (*run_pixels_)(const PixelStep& step, const void* from, int64_t count, void* to) = nullptr;
  std::vector<Action> actions_;
  std::vector<std::vector<float>> numbers_;  ///< of normalisations: 16 of each channel
  int64_t channels_;                         ///< the most of all steps
  bool as_values_;
  // While actions are made:
  Sample stored_;
  int64_t now_;
  std::vector<FinishStep> pending_;
};

const ColorLoops& color_loops();

}  // namespace iruka::cpu_backend
