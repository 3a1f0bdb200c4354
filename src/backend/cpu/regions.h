// Regions of binary pictures on the CPU.
#pragma once

#include "core/regions.h"

namespace iruka::cpu_backend {

Regions& cpu_regions();

/// Fills distances on all threads: along columns, then along rows.
void fill_distances(const BinaryPicture& picture, DistanceMetric metric, void* result);
int64_t label_runs(const BinaryPicture& picture, bool has_diagonals, int32_t* labels,
                   std::vector<ComponentStatistics>* statistics);

}  // namespace iruka::cpu_backend
