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

int64_t ceil_of(int64_t count, int64_t divisor) { return count / divisor + (count % divisor != 0 ? 1 : 0); }

int64_t part_in(const OrderOptions& options, int64_t epoch) {
  if (options.stick_to_shard) return options.shard;
  const auto shards = static_cast<uint64_t>(options.shards);
  return static_cast<int64_t>((static_cast<uint64_t>(options.shard) + static_cast<uint64_t>(epoch) % shards) % shards);
}

}  // namespace

int64_t epoch_batches(int64_t size, const OrderOptions& options, int64_t epoch) {
  check(options);
  const auto [begin, end] = part_of(size, part_in(options, epoch), options.shards);
  if (options.pad_last_batch) return ceil_of(ceil_of(size, options.shards), options.batch_size);  // of the largest part
  return options.last_batch == LastBatch::drop ? (end - begin) / options.batch_size
                                               : ceil_of(end - begin, options.batch_size);
}

EpochOrder epoch_order(int64_t size, const OrderOptions& options, int64_t epoch) {
  EpochOrder order;
  order.batches = epoch_batches(size, options, epoch);
  const int64_t part = part_in(options, epoch);
  const auto [begin, end] = part_of(size, part, options.shards);
  int64_t last = std::min(begin, size - 1);  // repeated where a part is empty
  if (options.shuffle && !options.stick_to_shard) {
    std::vector<int64_t> all(static_cast<size_t>(size));
    std::iota(all.begin(), all.end(), int64_t{0});
    shuffle(all, options.seed, epoch, 0);
    order.indices.assign(all.begin() + begin, all.begin() + end);
    if (last >= 0) last = all[static_cast<size_t>(last)];
  } else {
    order.indices.resize(static_cast<size_t>(end - begin));
    std::iota(order.indices.begin(), order.indices.end(), begin);
    if (options.shuffle) shuffle(order.indices, options.seed, epoch, part + 1);
  }
  if (!order.indices.empty()) last = order.indices.back();
  const int64_t own = end - begin;
  const bool fills = options.pad_last_batch || options.last_batch == LastBatch::fill;
  if (!fills && options.last_batch == LastBatch::partial) return order;
  int64_t whole = 0;
  if (__builtin_mul_overflow(order.batches, options.batch_size, &whole))
    throw ValueError("pipeline: " + std::to_string(order.batches) + " batches of " +
                     std::to_string(options.batch_size) + " samples are too many to fill");
  order.padded = std::max<int64_t>(whole - own, 0);
  order.indices.resize(static_cast<size_t>(whole), last);
  return order;
}

}  // namespace iruka::pipeline
