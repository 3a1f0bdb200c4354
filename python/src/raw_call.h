// A call that launches a grid of threads: what RawKernel and jit.rawkernel take. Both are called through type slots.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "convert.h"
#include "device.h"
#include "fixed_list.h"
#include "iruka/raw_kernel.h"

namespace iruka::python {

/// Arguments of one launch. Arrays are handles of their own, so that the launch may use them without the GIL.
class RawArguments {
 public:
  /// Of the call's arguments `given`; the launch has at most so many.
  RawArguments(const std::string& kernel, std::span<PyObject* const> given, size_t most)
      : kernel_(kernel), given_(given), arrays_(given.size()), bytes_(given.size()), arguments_(most) {}

  /// Adds argument k of the call. Raises TypeError for what no kernel takes.
  void add_argument(size_t k);
  void add_number(const Scalar& number) { arguments_.add(number); }

  std::span<const RawArgument> span() const { return arguments_.span(); }
  Device& device() const;

 private:
  Device& device_of_arrays() const;
  void add_numpy(size_t k, PyObject* object);
  void add_bytes(PyObject* object);

  static constexpr size_t kInline = 16;

  const std::string& kernel_;
  const std::span<PyObject* const> given_;
  FixedList<Array, kInline> arrays_;
  FixedList<std::string, kInline> bytes_;
  FixedList<RawArgument, kInline> arguments_;  ///< refer to arrays_ and bytes_
};

/// grid= or block=: an int, or a tuple of up to three. Raises TypeError and ValueError for others.
LaunchExtents to_extents(PyObject* object, const std::string& kernel, const char* what);

/// What a call gives: kernel(grid, block, args, *, shared_mem=0, stream=None).
class RawCall {
 public:
  RawCall(const std::string& kernel, PyObject* positional, PyObject* keywords);
  /// kernel[grid, block](*args)
  RawCall(const LaunchExtents& grid, const LaunchExtents& block, nb::handle args) : args_(nb::borrow(args)) {
    extents_.grid = grid;
    extents_.block = block;
  }

  std::span<PyObject* const> arguments() const { return items_of(args_); }
  /// The objects in a tuple.
  static std::span<PyObject* const> items_of(nb::handle tuple) {
    return {PySequence_Fast_ITEMS(tuple.ptr()), static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr()))};
  }
  const RawLaunch& extents() const { return extents_; }
  /// Launches without the GIL, and gives the kernel's warnings to Python.
  void launch(const RawKernel& kernel, const RawArguments& arguments) const;

 private:
  nb::object args_;  ///< a tuple: other code may change a list meanwhile
  RawLaunch extents_;
  std::optional<StreamHandle> stream_;
};

}  // namespace iruka::python
