// Graphs of operators that a fuzzer's bytes describe: mostly valid ones, of small tensors, with some mistakes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iruka/array.h"
#include "nn/graph.h"

namespace iruka::nn {

/// Numbers that a fuzzer's bytes say; zeros behind the last byte.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool is_empty() const { return bytes_.empty(); }
  /// One of 0 to count - 1.
  size_t below(size_t count) { return count < 2 ? 0 : byte() % count; }
  bool one_in(size_t count) { return below(count) == count - 1; }
  template <class List>
  auto& of(List& list) {
    return list[below(std::size(list))];
  }

 private:
  uint8_t byte() {
    if (bytes_.empty()) return 0;
    const uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

  std::span<const uint8_t> bytes_;
};

struct RandomModel {
  Graph graph;
  std::vector<Array> inputs;
};

RandomModel random_model(Choices& choices);

}  // namespace iruka::nn
