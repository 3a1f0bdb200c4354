// Axis maps in the order in which the loops of resampling read them.
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/resample_job.h"
#include "core/resampling.h"

namespace iruka::cpu_backend {

/// The loops of the widest vectors that the processor has and IRUKA_CPU_LEVEL allows.
const ResampleLoops& resample_loops();

inline Sample sample_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8: return Sample::uint8;
    case Dtype::uint16: return Sample::uint16;
    case Dtype::float16: return Sample::float16;
    default: return Sample::float32;
  }
}
inline int64_t bytes_of(Sample sample) { return sample == Sample::uint8 ? 1 : sample == Sample::float32 ? 4 : 2; }

/// What loops do with the columns.
enum class ColumnUse : uint8_t { fixed, real, select };

/// The columns of pictures of some channels, for the outputs that are no constants.
class ColumnTables {
 public:
  ColumnTables(std::shared_ptr<const AxisMap> map, int64_t channels, ColumnUse use, const ResampleLoops& loops);
  ColumnTables(const ColumnTables&) = delete;
  ColumnTables& operator=(const ColumnTables&) = delete;

  FixedColumns fixed;
  FloatColumns real;
  SelectedBytes selected;  ///< without groups where pixels are too far apart

 private:
  void make_fixed_groups(const ResampleLoops& loops);
  void make_fixed_windows(int64_t numbers);
  void make_float_groups(int64_t window);
  void make_selected(int64_t pixel_bytes);

  const std::shared_ptr<const AxisMap> map_;
  std::vector<int32_t> group_start_, float_places_;
  std::vector<uint16_t> group_masks_;
  std::vector<uint8_t> places_;
  std::vector<int16_t> fixed_weights_;
  std::vector<float> float_weights_;
};

/// Tables that were made before are kept for later calls. For a selection, `channels` is the number of a pixel's bytes.
std::shared_ptr<const ColumnTables> column_tables(const std::shared_ptr<const AxisMap>& map, int64_t channels,
                                                  ColumnUse use);

}  // namespace iruka::cpu_backend
