// Errors that kernels report to the host, which reads them at the next wait (check_indices).
#pragma once

constexpr int64_t iruka_bad_index = 1, iruka_bad_bins = 2;

/// The first error after those that were raised is described.
static inline void iruka_report(int64_t* report, int64_t kind, int64_t index, int64_t axis, int64_t extent) {
  const int64_t before = atomicAdd(report, int64_t(1));
  if (before != report[1]) return;
  report[2] = before + 1, report[3] = kind, report[4] = index, report[5] = axis, report[6] = extent;
}
