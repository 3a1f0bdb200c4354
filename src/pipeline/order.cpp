#include <algorithm>
#include <numeric>
#include <utility>

#include "iruka/error.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {
namespace {

constexpr uint32_t kOrderPlace = 0xFFFFFFFFu;  // no node's

/// Fisher and Yates, from the seed and the epoch alone.
void shuffle(std::span<int64_t> indices, uint64_t seed, int64_t epoch, int64_t part) {
  Draws draws({seed, epoch, part}, kOrderPlace);
  for (auto k = std::ssize(indices); k > 1; --k)
    std::swap(indices[static_cast<size_t>(k - 1)], indices[static_cast<size_t>(draws.below(k))]);
}

std::pair<int64_t, int64_t> part_of(int64_t size, int64_t part, int64_t parts) {
  const auto edge = [&](int64_t k) { return static_cast<int64_t>(static_cast<__int128>(size) * k / parts); };
  return {edge(part), edge(part + 1)};
}

void check(const OrderOptions& options) {
  if (options.batch_size < 1)
    throw ValueError("pipeline: batch_size is at least 1, not " + std::to_string(options.batch_size));
  if (options.shards < 1 || options.shard < 0 || options.shard >= options.shards)
    throw ValueError("pipeline: shard_id is 0 to num_shards - 1, not " + std::to_string(options.shard) + " of " +
                     std::to_string(options.shards));
}

}  // namespace

EpochOrder epoch_order(int64_t size, const OrderOptions& options, int64_t epoch) {
  check(options);
  const int64_t part = options.stick_to_shard ? options.shard : (options.shard + epoch) % options.shards;
  const auto [begin, end] = part_of(size, part, options.shards);
  EpochOrder order;
  if (options.shuffle && !options.stick_to_shard) {
    std::vector<int64_t> all(static_cast<size_t>(size));
    std::iota(all.begin(), all.end(), int64_t{0});
    shuffle(all, options.seed, epoch, 0);
    order.indices.assign(all.begin() + begin, all.begin() + end);
  } else {
    order.indices.resize(static_cast<size_t>(end - begin));
    std::iota(order.indices.begin(), order.indices.end(), begin);
    if (options.shuffle) shuffle(order.indices, options.seed, epoch, part + 1);
  }
  const int64_t own = end - begin, batch = options.batch_size;
  if (options.last_batch == LastBatch::drop && !options.pad_last_batch) {
    order.batches = own / batch;
    order.indices.resize(static_cast<size_t>(order.batches * batch));
    return order;
  }
  // The largest part has ceil(size / shards) samples.
  const int64_t longest = options.pad_last_batch ? (size + options.shards - 1) / options.shards : own;
  order.batches = (longest + batch - 1) / batch;
  const bool fills = options.pad_last_batch || options.last_batch == LastBatch::fill;
  if (fills && size > 0) {
    const int64_t repeated = own > 0 ? order.indices.back() : begin;  // a shard may have no samples of its own
    order.padded = order.batches * batch - own;
    order.indices.resize(static_cast<size_t>(order.batches * batch), repeated);
  }
  return order;
}

}  // namespace iruka::pipeline
