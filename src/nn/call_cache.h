// What a node makes for each kind of call.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace iruka::nn {

/// A short list of keys and values that only grows, so that calls take no lock, and ends with its owner.
template <class Key, class Value>
class CallCache {
 public:
  CallCache() = default;
  ~CallCache() {
    for (Entry* entry = first_.load(); entry;) delete std::exchange(entry, entry->next);
  }
  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;

  /// Several threads may make the value of a key at the same time; each uses its own.
  template <class Make>
  const Value& get(const Key& key, Make&& make) {
    for (Entry* entry = first_.load(std::memory_order_acquire); entry; entry = entry->next) {
      if (entry->key == key) return entry->value;
    }
    auto* const made = new Entry{key, std::forward<Make>(make)(), first_.load(std::memory_order_relaxed)};
    while (!first_.compare_exchange_weak(made->next, made, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return made->value;
  }

 private:
  struct Entry {
    const Key key;
    const Value value;
    Entry* next;
  };
  std::atomic<Entry*> first_{nullptr};
};

}  // namespace iruka::nn
