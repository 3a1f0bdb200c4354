// What the bindings of both kinds of kernels share: arguments of a call, parameters as Python sees them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "convert.h"

namespace iruka::python {

/// What a call's arguments are matched with.
struct KernelParameters {
  const std::string& name;
  std::span<const Parameter> inputs, outputs;
};

/// The arguments of one call, in place while there are few, and what arguments of other libraries became.
class KernelArguments {
 public:
  /// Raises TypeError for one that no kernel takes.
  KernelArguments(const KernelParameters& kernel, PyObject* positional);
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;

  std::span<const Argument> span() const { return {begin_, size_}; }
  /// Where the first array lies; the default device where there is none.
  Device& device() const;

 private:
  static_assert(std::is_trivially_destructible_v<Argument> && alignof(Argument) <= alignof(std::max_align_t));
  static constexpr size_t kInline = 16;

  void reserve(size_t count) {
    if (count > kInline) heap_.reserve(count * sizeof(Argument));
    begin_ = reinterpret_cast<Argument*>(count > kInline ? heap_.data() : inline_);
  }
  void push_back(const Argument& argument) { new (begin_ + size_++) Argument(argument); }

  alignas(Argument) std::byte inline_[kInline * sizeof(Argument)];
  std::vector<std::byte> heap_;
  std::vector<Array> converted_;
  Argument* begin_ = nullptr;
  size_t size_ = 0;
};

/// "file:line" of the innermost Python caller outside this package.
std::string calling_place();
nb::tuple parameter_tuple(std::span<const Parameter> list);

void bind_reduction_kernel(nb::module_& module);

}  // namespace iruka::python
