// The edges of histograms.
#pragma once

#include "iruka/histogram.h"

namespace iruka::ops {

struct BinEdges {
  Array values;  ///< on the CPU
  bool is_even;  ///< whether all bins have one width
};

/// The edges of one-dimensional bins of real elements.
BinEdges bin_edges(const Array& x, const Bins& bins, const BinRange& range, bool weighted);
/// The edges of coordinate `k` of histogramdd().
BinEdges bin_edges_of_coordinate(int k, const Array& x, const Bins& bins, const BinRange& range);

}  // namespace iruka::ops
