// Histograms, and how often small integers occur.
#include "iruka/histogram.h"

#include <nanobind/stl/string.h>

#include <vector>

#include "composed.h"
#include "truth.h"

namespace iruka::python {

namespace {

/// A rule's name, an int, or an array of edges.
Bins bins_of(nb::handle given) {
  if (is_array(given.ptr())) return array_of(given.ptr());
  if (PyUnicode_Check(given.ptr())) return parse_bin_rule(to_text(given, "bins"));
  return to_int64(given, "bins");
}

/// None, or two numbers.
BinRange range_of(nb::handle given) {
  if (given.is_none()) return {};
  Scalar ends[2];
  const nb::sequence both = nb::cast<nb::sequence>(given);
  if (nb::len(both) != 2) throw ValueError("range must have two entries, not " + std::to_string(nb::len(both)));
  for (size_t k = 0; k < 2; ++k) {
    const nb::object end = both[k];
    if (is_array(end.ptr()))
      ends[k] = item_of(array_of(end.ptr()));
    else if (!to_scalar(end.ptr(), ends[k], /*inexact=*/true))
      throw TypeError("range must hold numbers, not " + describe(end));
  }
  return std::pair(ends[0], ends[1]);
}

}  // namespace

void bind_histograms(nb::module_& module) {
  module.def(
      "histogram",
      [](Array x, nb::handle bins, nb::handle range, Truth density, nb::handle weights) {
        const std::optional<Array> given = optional_array(weights, "histogram: weights");
        const Bins divided = bins_of(bins);
        const HistogramOptions options{range_of(range), density, pointer_to(given)};
        Histogram made = composed([&] { return histogram(x, divided, options); });
        return nb::make_tuple(to_python(std::move(made.counts)), to_python(std::move(made.edges)));
      },
      nb::arg("x"), nb::arg("bins"), nb::arg("range").none(), nb::arg("density").none(), nb::arg("weights").none());
  module.def(
      "histogram_bin_edges",
      [](Array x, nb::handle bins, nb::handle range, nb::handle weights) {
        const std::optional<Array> given = optional_array(weights, "histogram: weights");
        const Bins divided = bins_of(bins);
        const HistogramOptions options{.range = range_of(range), .weights = pointer_to(given)};
        return to_python(composed([&] { return histogram_bin_edges(x, divided, options); }));
      },
      nb::arg("x"), nb::arg("bins"), nb::arg("range").none(), nb::arg("weights").none());
  module.def(
      "histogramdd",
      [](nb::handle columns, nb::handle bins, nb::handle ranges, Truth density, nb::handle weights) {
        std::vector<Array> coordinates;
        for (nb::handle column : columns) coordinates.push_back(checked_array(column, "histogramdd"));
        std::vector<Bins> divided;
        for (nb::handle each : bins) divided.push_back(bins_of(each));
        std::vector<BinRange> limits;
        if (!ranges.is_none())
          for (nb::handle range : ranges) limits.push_back(range_of(range));
        const std::optional<Array> given = optional_array(weights, "histogramdd: weights");
        HistogramDD made =
            composed([&] { return histogramdd(coordinates, divided, limits, density, pointer_to(given)); });
        return nb::make_tuple(to_python(std::move(made.counts)), to_tuple(std::move(made.edges)));
      },
      nb::arg("columns"), nb::arg("bins"), nb::arg("ranges").none(), nb::arg("density").none(),
      nb::arg("weights").none());
  module.def(
      "bincount",
      [](Array x, nb::handle weights, int64_t least) {
        const std::optional<Array> given = optional_array(weights, "bincount: weights");
        return make_array([&] { return bincount(x, pointer_to(given), least); });
      },
      nb::arg("x"), nb::arg("weights").none(), nb::arg("least"));
}

}  // namespace iruka::python
