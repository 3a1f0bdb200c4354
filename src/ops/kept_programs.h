// The programs of functions that launch kernels of their own, made once for each key.
#pragma once

#include <memory>
#include <utility>

#include "jit/program.h"
#include "ops/kept.h"

namespace iruka::ops {

/// `Key` is everything that a source depends on, the device included. A program is made again once clear_cache() was
/// called. Constant-initialised, as Kept is.
template <class Key>
class KeptPrograms {
 public:
  /// `build()` gives a std::shared_ptr<const jit::Program>.
  template <class Build>
  const jit::Program& get(const Key& key, Build&& build) {
    return *programs_.get({jit::cache_generation(), key}, std::forward<Build>(build));
  }

 private:
  Kept<std::pair<uint64_t, Key>, std::shared_ptr<const jit::Program>> programs_;
};

}  // namespace iruka::ops
