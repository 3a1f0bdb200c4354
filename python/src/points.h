// map() of networks: the features of points along any axis, and a function that hears of the progress.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "convert.h"
#include "gil.h"
#include "interop.h"
#include "iruka/nn.h"

namespace iruka::python {

/// What is not the library's own array comes to the network's device.
Array points_of(Device& device, nanobind::handle x);

template <class Network>
nanobind::object mapped(const Network& network, nanobind::handle x, int64_t axis, nanobind::handle out,
                        nanobind::handle progress, Precision precision) {
  const Array points = points_of(network.device(), x);
  const Array target = out.is_none() ? Array() : checked_array(out, "nn.map: out");
  nn::MapOptions options;
  options.precision = precision;
  if (target.valid()) options.out = &target;
  if (!progress.is_none())
    options.progress = [progress](int64_t done, int64_t all) {
      const GilHold hold;
      progress(done, all);
    };
  Array result = without_gil([&] { return network.map(points, axis, options); });
  return target.valid() ? nanobind::borrow(out) : to_python(std::move(result));
}

}  // namespace iruka::python
