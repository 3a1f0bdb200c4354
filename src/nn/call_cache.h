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

  /// Several threads may make the value of a key at the same time; the first that is ready is kept.
  template <class Make>
  const Value& get(const Key& key, Make&& make) {
    if (const Entry* const found = find(key)) return found->value;
    std::unique_ptr<Entry> made(new Entry{key, std::forward<Make>(make)(), nullptr});
    made->next = first_.load(std::memory_order_acquire);
    do {
      if (const Entry* const other = find(key, made->next)) return other->value;
    } while (
        !first_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel, std::memory_order_acquire));
    return made.release()->value;
  }

 private:
  struct Entry;
  const Entry* find(const Key& key) const { return find(key, first_.load(std::memory_order_acquire)); }
  static const Entry* find(const Key& key, const Entry* entry) {
    while (entry && !(entry->key == key)) entry = entry->next;
    return entry;
  }

  struct Entry {
    const Key key;
    const Value value;
    Entry* next;
  };
  std::atomic<Entry*> first_{nullptr};
};

}  // namespace iruka::nn
