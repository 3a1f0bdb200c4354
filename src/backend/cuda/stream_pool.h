// Pools of GPU memory and of page-locked host memory: blocks are reused in the order of the streams that use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/pool_blocks.h"
#include "core/pool.h"
#include "iruka/cuda.h"

namespace iruka::cuda_backend {

/// The memory of a pool, and the calls by which the pool follows the device's work. Thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// A chunk aligned to 512 bytes, or null when there is none. `bytes` is a multiple of 2 MiB.
  virtual void* allocate(size_t bytes) noexcept = 0;
  virtual void release(void* memory, size_t bytes) noexcept = 0;
  /// Waits until all earlier work of the device is done; raises DeviceError if the wait fails. Returns false without
  /// waiting if a wait would break a capture that the pool does not know of. Never called between begin_capture() and
  /// end_capture().
  virtual bool synchronize() = 0;

  /// A mark behind the work that is now in `stream` of GPU number `device`; null when the device refuses.
  virtual void* record(StreamHandle stream, int device) noexcept = 0;
  /// False when in doubt. These three are called without the pool's lock, because the driver may block.
  virtual bool is_done(void* event) noexcept = 0;
  virtual void release_event(void* event) noexcept = 0;
  /// Whether work for `stream` now joins the capture that began on `origin`, another stream.
  virtual bool same_capture(StreamHandle origin, StreamHandle stream) noexcept = 0;
};

using cuda::PoolHook;

/// Best fit with splitting and merging, over chunks of any source. Thread-safe.
///
/// Blocks are multiples of 512 bytes up to 1 MiB, cut from pages of 2 MiB; larger ones are multiples of 2 MiB. A
/// released block goes to the arena of the stream it was allocated for: later work of that stream runs after the work
/// that used the block, so no wait is needed. Any other move, to another stream or back to the source, waits for the
/// device. Statistics count whole blocks, the limit whole chunks. Held memory stays until free_all_blocks() or a
/// request that needs it.
///
/// A child of fork() may release blocks. A request for memory raises DeviceError there, because a GPU does not survive
/// fork().
class StreamPool {
 public:
  /// `device`: the number of the GPU whose streams allocate.
  StreamPool(std::string name, std::unique_ptr<BlockSource> source, int device = 0);
  /// Returns all chunks to the source, except those with blocks in use.
  ~StreamPool();
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  /// 512-byte aligned; 0 bytes give a valid block. If the source or the limit has no more memory: waits for the device,
  /// returns all free chunks to the source, tries again, then takes free blocks of other streams. Raises
  /// OutOfMemoryError, and DeviceError if the wait fails; then no memory that the device's work may use is returned or
  /// reused.
  void* allocate(size_t bytes, StreamHandle stream);
  /// Takes back what allocate() gave. False: no live block of this pool begins there. Null is ignored.
  bool release(void* memory) noexcept;
  /// The work that is now in `stream`, which is not the one of allocate(), uses the block: after release() it is not
  /// reused before that work has finished. The stream may be destroyed at once, unless it is being captured. `device`
  /// tells equal handles of several devices apart. False: no live block of this pool begins there.
  bool record_use(void* memory, StreamHandle stream, int device = 0);
  /// The same for all work that `stream` has when the block is released.
  bool use_until_release(void* memory, StreamHandle stream, int device = 0);
  /// Called before the stream is destroyed. Any stream may then take its blocks, at once if its work is done, else
  /// after a wait for the device. The pool records no more events on it.
  void forget_stream(StreamHandle stream, bool is_done = true);

  /// Until end_capture(), what is allocated for `stream` and for streams that join its capture belongs to `graph` (not
  /// 0): only captures of the same graph reuse it, until release_graph(). Raises ValueError for a stream that is being
  /// captured. Call it before the driver's own begin, so that no thread waits for the device during the capture.
  void begin_capture(StreamHandle stream, uint64_t graph);
  void end_capture(StreamHandle stream);
  /// The pool does not wait for the device while the result lives.
  [[nodiscard]] std::unique_lock<std::mutex> without_waits() { return std::unique_lock(growth_); }
  /// Waits for the device. False, without waiting, while a stream is captured. Raises DeviceError.
  bool wait_for_device();
  /// Called after the graph was destroyed and its last run is done. Its free blocks become ordinary ones; those in use
  /// do so when they are released.
  void release_graph(uint64_t graph);

  PoolStatistics statistics() const;
  /// Free blocks, as CuPy's n_free_blocks.
  size_t free_blocks() const;
  /// 0: no limit on used and held memory together. Applies when the pool needs the next chunk.
  void set_limit(size_t bytes);
  /// Waits for the device and returns free chunks to the source: of all streams, or of one. Raises DeviceError.
  void free_all_blocks();
  void free_all_blocks(StreamHandle stream);

  /// The size of the block for a request of this size.
  static size_t block_bytes(size_t requested);
  const std::string& name() const { return name_; }

 private:
  struct Request {
    size_t requested;
    size_t bytes;
    StreamHandle stream;
    bool is_small;
    size_t chunk_bytes;
  };
  struct Capture {
    StreamHandle stream;
    uint64_t graph;
  };
  /// A block of waiting_ whose uses are to be checked.
  struct Waiting {
    Block* block;
    bool is_idle;
    bool may_ask;  ///< whether the driver may be asked about the uses
  };
  using Lock = std::unique_lock<PoolLock>;

  static Request request_of(size_t bytes, StreamHandle stream);
  void* allocate_hooked(const Request& request);
  void* from_held(const Request& request, bool is_first);
  void* from_source(const Request& request);
  void* from_new_chunk(const Request& request);
  void* from_other_streams(const Request& request);
  bool release_block(void* memory) noexcept;
  void record_uses(Block* block) noexcept;

  void reserve();
  Arena& arena_of(StreamHandle stream, Lock& lock);
  Arena& add_arena(StreamHandle stream, uint64_t graph);
  uint64_t graph_of(StreamHandle stream, Lock& lock);
  void retire(Arena& arena, bool is_done = true);
  bool is_marking(StreamHandle stream) const;
  bool is_idle(const Block& block) const { return block.released <= finished_epoch_; }

  Block* best_of_all(const Arena& own, bool is_small, size_t bytes);
  void* hand_out(Block* block, Arena& arena);
  Block* take(Block* block, size_t bytes);
  void cut(Block* block, size_t bytes);
  Block* open_page(Block* block);
  void put_back(Block* block);
  void add_free(Block* block);
  template <class Take>
  void join_neighbours(Block* block, Take take);
  void recycle(Block* block);
  void settle_waiting(bool all, Lock& lock);
  bool is_done(const Waiting& waiting) const;

  bool synchronize();
  void give_everything_back() noexcept;
  void give_back(const StreamHandle* only_stream);
  BlockList collect(const StreamHandle* only_stream);
  [[noreturn]] void raise_out_of_memory(size_t requested) const;
  bool is_forked() const { return fork_generation_ != fork_generation(); }
  void check_not_forked(const char* function) const;

  const std::string name_;
  const std::unique_ptr<BlockSource> source_;
  const int device_;
  /// Held while a thread moves chunks from or to the source, or waits for the device; taken before lock_.
  std::mutex growth_;
  /// Held while a thread asks the driver about the uses of waiting blocks; taken before lock_, never by a release.
  std::mutex settling_;
  mutable PoolLock lock_;
  const int fork_generation_ = fork_generation();

  PoolStatistics statistics_;
  PointerMap<Block> live_;
  PointerMap<Arena> streams_;  ///< the ordinary arenas
  std::vector<std::unique_ptr<Arena>> arenas_;
  Arena retired_;      ///< of destroyed streams and graphs; any stream may take its idle blocks
  BlockList waiting_;  ///< released blocks that other streams use, oldest first
  size_t waiting_count_ = 0;
  std::vector<Capture> captures_;

  /// Blocks released up to finished_epoch_ are idle, because a wait for the device has ended since.
  uint64_t epoch_ = 1;
  uint64_t finished_epoch_ = 0;

  BlockList spare_;  ///< Block objects without memory
  size_t spare_count_ = 0;
  std::vector<std::unique_ptr<Block[]>> slabs_;
};

/// Page-locked host memory: a stream pool without streams. A released block is free at once, unless record_use() has
/// named a stream that uses it; an asynchronous copy must be recorded this way.
class PinnedPool : private StreamPool {
 public:
  using StreamPool::forget_stream;
  using StreamPool::StreamPool;
  void* allocate(size_t bytes);
  using StreamPool::free_all_blocks;
  using StreamPool::free_blocks;
  using StreamPool::record_use;
  using StreamPool::release;
  using StreamPool::set_limit;
  using StreamPool::statistics;
  using StreamPool::without_waits;
};

}  // namespace iruka::cuda_backend
