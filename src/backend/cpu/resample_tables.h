// Axis maps in the order in which the loops of resampling read them.
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/resample_job.h"
#include "core/resampling.h"

namespace iruka::cpu_backend {

/// The loops of the widest vectors that the processor has and IRUKA_CPU_LEVEL allows.
const ResampleLoops& resample_loops();

/// The columns of pictures of some channels, for the outputs that are no constants.
class ColumnTables {
 public:
  ColumnTables(std::shared_ptr<const AxisMap> map, int64_t channels, bool is_fixed, const ResampleLoops& loops);
  ColumnTables(const ColumnTables&) = delete;
  ColumnTables& operator=(const ColumnTables&) = delete;

  FixedColumns fixed;
  FloatColumns real;

 private:
  void make_fixed_groups(const ResampleLoops& loops);
  void make_float_groups(int64_t window);

  const std::shared_ptr<const AxisMap> map_;
  std::vector<int32_t> group_start_, float_places_;
  std::vector<uint16_t> group_masks_;
  std::vector<uint8_t> places_;
  std::vector<int16_t> fixed_weights_;
  std::vector<float> float_weights_;
};

/// Tables that were made before are kept for later calls.
std::shared_ptr<const ColumnTables> column_tables(const std::shared_ptr<const AxisMap>& map, int64_t channels,
                                                  bool is_fixed);

}  // namespace iruka::cpu_backend
