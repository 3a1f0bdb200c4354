// One filter of one picture. Where columns of windows are summed, compared or sorted first, rows are read from the
// picture, and what was made of columns is padded by what lies beyond the ends of rows. Else rows are padded and kept
// while windows contain them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/filter_job.h"
#include "backend/cpu/resample_job.h"
#include "core/filtering.h"

namespace iruka::cpu_backend {

/// The loops of the widest vectors that the processor has and IRUKA_CPU_LEVEL allows.
const FilterLoops& filter_loops();

class FilterPass {
 public:
  /// `job` must live as long as the pass.
  explicit FilterPass(const Filtering& job);

  /// Rows of all planes that are filtered one after the other.
  int64_t rows() const { return is_bilateral() ? job_.height : job_.height * job_.planes; }
  int64_t window_rows() const { return window_.height; }
  /// Elements that are computed for a row, about.
  int64_t row_work() const;
  /// Fills the rows of the result from `begin` to `end`. Stops early where should_stop() says so.
  void run(int64_t begin, int64_t end) const;

 private:
  using Kind = FilterWindow::Kind;
  class Workspace;
  template <class T>
  struct Loops;

  bool is_bilateral() const { return window_.kind == Kind::bilateral; }
  bool has_histograms() const {
    return window_.kind == Kind::median && work_ == Sample::uint8 && window_.width >= kHistogramSize;
  }
  /// Whether columns of the window are combined first, whatever lies beside them.
  bool has_columns_first() const;
  bool has_sorted_columns() const { return window_.kind == Kind::median && window_.width <= kMostSorted; }
  Sample work_sample() const;
  void find_runs();
  void find_border();
  void find_beyond();
  const void* plain_row(int64_t plane, int64_t y, char* memory) const;
  void pad_row(int64_t plane, int64_t y, char* to) const;
  void pad_ends(char* row, int64_t pixel_bytes, const char* beyond) const;
  template <class S>
  S* first_column(char* memory) const;
  template <class T>
  const T* pixel_of(const T* row, int64_t column, int64_t plane) const;
  template <class S>
  S* pad_columns(S* first, int64_t plane) const;
  void put_outside(char* to, int64_t channel, int64_t pixels) const;
  void find_window(Workspace& space, int64_t plane, int64_t y) const;
  void find_spans(char* row, int64_t line) const;
  void find_bilateral_row(Workspace& space, int64_t y, char* to) const;
  template <class T>
  void set_tap_rows(Workspace& space) const;
  void sum_row(Workspace& space, int64_t plane, float* to) const;
  void integer_row(Workspace& space, int64_t plane, char* to) const;
  /// Calls `use` with the loops of boxes for the picture's values.
  template <class Use>
  void with_box_loops(Use&& use) const;
  template <class T, class S>
  void box_row(Workspace& space, const BoxLoops<T, S>& loops, int64_t plane, int64_t y, T* to) const;
  /// Calls `use` with the loops of ranks for values of padded rows.
  template <class Use>
  void with_rank_loops(Use&& use) const;
  template <class T>
  void median_row(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y, T* to) const;
  template <class T>
  void rank_row(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y, T* to) const;
  template <class T>
  T* extreme_columns(Workspace& space, const RankLoops<T>& loops, int64_t y) const;
  template <class T>
  void compute_row(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y) const;
  template <class T>
  void finish_ranks(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y) const;
  void histogram_row(Workspace& space, int64_t y, uint8_t* to) const;
  void finish_floats(const float* from, char* to, int64_t elements) const;
  void finish_bilateral(Workspace& space, int64_t y) const;
  const char* source_row(int64_t plane, int64_t y) const {
    return static_cast<const char*>(job_.source) + plane * job_.plane_bytes + y * job_.row_bytes;
  }
  char* result_row(int64_t plane, int64_t y) const {
    return static_cast<char*>(job_.result) + plane * job_.result_plane + y * job_.result_row;
  }

  const Filtering& job_;
  const FilterWindow& window_;
  const FilterLoops& loops_;
  const ResampleLoops& conversions_;
  int64_t channels_;      ///< of a pixel that are neighbours in padded rows
  int64_t elements_;      ///< of a row of the result
  int64_t padded_;        ///< of a padded row
  int64_t whole_;         ///< the same, a multiple of the longest vectors
  Sample source_, work_;  ///< of the picture, of padded rows
  int64_t work_bytes_;
  std::vector<int64_t> left_, right_;  ///< columns that stand for those beyond the ends, -1 for constants
  std::vector<char> outside_;          ///< the value of constants of each channel
  std::vector<char> beyond_;           ///< what becomes of columns of these
  int64_t lines_ = 1;                  ///< rows that are kept of each row of the picture
  std::vector<int64_t> spans_;         ///< the neighbours that the values of each of these are the extremes of
  std::vector<int32_t> tap_y_, tap_x_, tap_line_;
  std::vector<float> weights_;            ///< of the taps
  std::vector<int16_t> integer_weights_;  ///< the same as integers
  std::vector<int16_t> integer_columns_;  ///< of an even number
  BoxDivision division_;
};

}  // namespace iruka::cpu_backend
