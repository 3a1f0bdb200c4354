// The programs of functions that launch kernels of their own, built once for each key.
#pragma once

#include <memory>
#include <utility>

#include "jit/program.h"
#include "ops/permanent_cache.h"

namespace iruka::ops {

/// `Key` is everything that a source depends on, the device included. A program is built again after clear_cache(). It
/// is constant-initialised, like PermanentCache.
template <class Key>
class ProgramCache {
 public:
  /// `build()` gives a std::shared_ptr<const jit::Program>.
  template <class Build>
  const jit::Program& get(const Key& key, Build&& build) {
    return *programs_.get({jit::cache_generation(), key}, std::forward<Build>(build));
  }

 private:
  PermanentCache<std::pair<uint64_t, Key>, std::shared_ptr<const jit::Program>> programs_;
};

}  // namespace iruka::ops
