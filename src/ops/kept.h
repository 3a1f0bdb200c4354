// Kernels and programs that are made once for what their texts depend on.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "core/fork.h"
#include "core/once.h"

namespace iruka::ops {

/// Values by key, kept for the life of the process, since calls come at exit too: made_once() makes one. Threads may
/// make one at the same time; the first stays.
template <class Key, class Value>
class Kept {
 public:
  /// The value of the key; `make()`, which may compile, where there is none yet.
  template <class Make>
  const Value& get(const Key& key, Make make) {
    {
      std::lock_guard lock(mutex_);
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
    }
    Value made = make();
    std::lock_guard lock(mutex_);
    return values_.emplace(key, std::move(made)).first->second;
  }

 private:
  ForkSafeMutex mutex_;
  std::map<Key, Value> values_;
};

}  // namespace iruka::ops
