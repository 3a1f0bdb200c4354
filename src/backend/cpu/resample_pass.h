// One pass of resampling: what its rows need is prepared once, then strips of output rows are computed one by one.
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/color_steps.h"
#include "backend/cpu/resample_job.h"
#include "backend/cpu/resample_tables.h"
#include "core/resampling.h"
#include "jit/divider.h"

namespace iruka::cpu_backend {

/// Where memory for some rows has a row: at row % rows, without the time of a division. Rows are below 2^31.
class RingPlace {
 public:
  explicit RingPlace(int64_t rows) : rows_(rows), divider_(rows) {}
  int64_t operator()(int64_t row) const {
    const auto doubled = static_cast<uint32_t>(2 * row);
    return row - static_cast<int64_t>(uint64_t{doubled} * divider_.magic >> 32 >> divider_.shift) * rows_;
  }
  int64_t rows() const { return rows_; }

 private:
  int64_t rows_;
  jit::Divider divider_;
};

class ResamplePass {
 public:
  /// `job` must live as long as the pass.
  explicit ResamplePass(const Resampling& job);

  int64_t rows() const { return job_.rows->out; }
  /// Elements that are read or written for a row, about.
  int64_t row_work() const;
  /// Fills the rows of the result from `begin` to `end`. Stops early where should_stop() says so.
  void run(int64_t begin, int64_t end) const;
  static std::unique_ptr<ResamplingStream> stream(const Resampling& job);

 private:
  /// How rows are computed: each is a row of the source, a sum of integers, a sum of floats, or at places of a warp.
  enum class Kind : uint8_t { select, fixed, real, warp };
  static Kind kind_of(const Resampling& job);
  static Sample stage_of(const Resampling& job, Kind kind);
  /// What is computed of a row of the result: pixels, or planes.
  enum class Order : uint8_t { pixels, planes };
  /// The memory of a thread that computes a strip.
  class Workspace;
  class Stream;
  /// Outputs in the order of the rows that they read, of which those before `available` are there.
  struct Outputs {
    int64_t end, direction, available;
  };

  void choose_steps();
  void fill_outside();
  const char* source_row(int64_t plane, int64_t row) const;
  void compute_rows(Workspace& space, const int64_t* wanted, int count) const;
  void find_rows(Workspace& space, int64_t y, const Outputs& outputs) const;
  void stage_row(Workspace& space, int64_t y) const;
  void finish_row(Workspace& space, int64_t y) const;
  bool reads_source() const;
  void color_row(Workspace& space, int64_t y, const char* from, int64_t plane_bytes) const;
  void run_selection(Workspace& space, int64_t y) const;
  void run_row(Workspace& space, int64_t y, const Outputs& outputs) const;
  void warp_block(Workspace& space, int64_t y, char* stage, int64_t plane_bytes, int64_t first, int64_t pixels) const;
  void run_warps(Workspace& space, int64_t begin, int64_t end) const;
  bool goes_back(int64_t begin, int64_t end) const;
  void run_rows(Workspace& space, int64_t begin, int64_t end) const;
  void turn_rows(const char* from, int64_t line, int64_t first, int64_t count) const;
  void turn_source(int64_t begin, int64_t end) const;
  void put_outside(char* stage, int64_t plane_bytes, int64_t begin, int64_t end) const;
  char* result_row(const Workspace& space, int64_t y) const;

  const Resampling& job_;
  const ResampleLoops& loops_;
  Kind kind_;
  Order order_;
  std::shared_ptr<const ColumnTables> tables_;
  FixedColumns fixed_;
  FloatColumns real_;
  Sample source_, stage_, result_;
  int64_t stage_bytes_, result_bytes_;  ///< of an element
  /// Whether the pixels of a row are no neighbours in the result. Then rows are computed into a block of dense rows.
  bool is_turned_ = false;
  int64_t turned_rows_ = 0, turned_line_ = 0;       ///< of that block, in bytes
  int64_t result_column_ = 0, result_channel_ = 0;  ///< strides of computed rows in bytes
  RingPlace source_place_, ring_place_{0};          ///< of rows of the source, and of computed rows that are kept
  std::vector<char> outside_;                       ///< a pixel of constants as staged
  std::vector<float> numbers_;                      ///< of the steps
  std::vector<FinishStep> steps_;                   ///< of a row of pixels, or of each plane
  int64_t period_ = 16;
  bool is_direct_ = false;     ///< staged rows are the result
  bool turns_source_ = false;  ///< rows of the source are columns of the result
  /// Where steps see whole pixels, all of them; the vectors of steps above are empty then.
  std::unique_ptr<ColorSteps> colors_;
  int64_t color_channels_ = 1, color_results_ = 1;  ///< planes for these steps: of the source, and of the result
};

}  // namespace iruka::cpu_backend
