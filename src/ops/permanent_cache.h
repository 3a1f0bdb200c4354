// Kernels and programs that are built once for each key, which is everything that their source depends on.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace iruka::ops {

/// A map from keys to values that live as long as the process. It is a binary search tree that only grows, so neither
/// lookups nor insertions take a lock. It is constant-initialised, so that it may be a function's static variable, and
/// never frees its nodes, because kernels are also called while the process ends. Keys are ordered by `<`.
template <class Key, class Value>
class PermanentCache {
 public:
  /// Null where there is none.
  const Value* find(const Key& key) const {
    const Node* node = root_.load(std::memory_order_acquire);
    while (node && !(node->key == key)) node = node->child_towards(key).load(std::memory_order_acquire);
    return node ? &node->value : nullptr;
  }

  /// The value of the key. If there is none, `make()` creates it, possibly by compiling. Several threads may create one
  /// at the same time; the first is used.
  template <class Make>
  const Value& get(const Key& key, Make&& make) {
    const Value* const found = find(key);
    return found ? *found : insert(key, std::forward<Make>(make));
  }

 private:
  struct Node {
    Node(const Key& its_key, Value its_value) : key(its_key), value(std::move(its_value)) {}

    std::atomic<Node*>& child_towards(const Key& other) { return key < other ? after : before; }
    const std::atomic<Node*>& child_towards(const Key& other) const { return key < other ? after : before; }

    const Key key;
    const Value value;
    std::atomic<Node*> before{nullptr}, after{nullptr};
  };

  /// Separate from get(), which is then small enough to be inlined.
  template <class Make>
  [[gnu::noinline]] const Value& insert(const Key& key, Make&& make) {
    auto made = std::make_unique<Node>(key, std::forward<Make>(make)());
    std::atomic<Node*>* place = &root_;
    while (true) {
      Node* there = nullptr;
      if (place->compare_exchange_strong(there, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
        return made.release()->value;
      if (there->key == key) return there->value;
      place = &there->child_towards(key);
    }
  }

  std::atomic<Node*> root_{nullptr};
};

}  // namespace iruka::ops
