// Stream pools. The invariants under the lock: a free block lies in the bins of its arena, beside no free block of the
// same arena in the same page or chunk; a page that is a part of a chunk holds at least one block in use.
#include "backend/cuda/stream_pool.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>
#include <utility>

#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

using Guard = std::lock_guard<PoolLock>;

constexpr size_t kLargestRequest = size_t{1} << 62;
constexpr size_t kLargestSmall = size_t{1} << 20;
constexpr size_t kPage = Arena::kLargeUnit;
// The blocks that one request may need at once: a chunk, the first block of its page, and the rest of that page.
constexpr size_t kBlocksForRequest = 3;
constexpr size_t kSlab = 256;

/// No driver hands this out as a stream.
const StreamHandle kNoStream = reinterpret_cast<StreamHandle>(~uintptr_t{0});

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// The number of active hooks of all threads. While it is 0, a pool does not look up its thread's hooks.
std::atomic<int> hook_count{0};
thread_local std::vector<PoolHook*> thread_hooks;

bool is_hooked() { return hook_count.load(std::memory_order_relaxed) != 0 && !thread_hooks.empty(); }

/// Calls `before(hook)` now and `after(hook)` at the end of the scope, for the hooks that are active now.
template <class Before, class After>
class HookScope {
 public:
  HookScope(Before before, After after) : hooks_(thread_hooks), after_(after) {
    for (PoolHook* hook : hooks_) before(*hook);
  }
  ~HookScope() {
    for (PoolHook* hook : hooks_) after_(*hook);
  }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

 private:
  const std::vector<PoolHook*> hooks_;
  After after_;
};

}  // namespace

StreamPool::StreamPool(std::string name, std::unique_ptr<BlockSource> source, int device)
    : name_(std::move(name)), source_(std::move(source)), device_(device), retired_(kNoStream, 0) {}

StreamPool::~StreamPool() {
  if (!is_forked()) give_everything_back();
  lock_.leave();
}

void StreamPool::give_everything_back() noexcept {
  std::lock_guard growth(growth_);
  {
    Guard guard(lock_);
    captures_.clear();
    while (!arenas_.empty()) retire(*arenas_.back());
  }
  try {
    give_back(nullptr);
  } catch (const Error&) {  // a device that cannot be waited for keeps its memory
  }
}

// Allocating memory.

StreamPool::Request StreamPool::request_of(size_t bytes, StreamHandle stream) {
  const size_t small = round_up(std::max<size_t>(bytes, 1), Arena::kSmallUnit);
  if (small <= kLargestSmall) return {bytes, small, stream, true, kPage};
  const size_t large = round_up(bytes, Arena::kLargeUnit);
  return {bytes, large, stream, false, large};
}

size_t StreamPool::block_bytes(size_t requested) { return request_of(requested, nullptr).bytes; }

void* StreamPool::allocate(size_t bytes, StreamHandle stream) {
  check_not_forked("allocate");
  if (bytes > kLargestRequest) raise_out_of_memory(bytes);
  const Request request = request_of(bytes, stream);
  if (is_hooked()) return allocate_hooked(request);
  void* const memory = from_held(request, true);
  return memory ? memory : from_source(request);
}

void* StreamPool::allocate_hooked(const Request& request) {
  void* memory = nullptr;
  HookScope malloc_hooks(
      [&](PoolHook& hook) { hook.malloc_preprocess(name_, request.requested, request.bytes); },
      [&](PoolHook& hook) { hook.malloc_postprocess(name_, request.requested, request.bytes, memory); });
  memory = from_held(request, true);
  if (memory) return memory;
  HookScope alloc_hooks([&](PoolHook& hook) { hook.alloc_preprocess(name_, request.chunk_bytes); },
                        [&](PoolHook& hook) { hook.alloc_postprocess(name_, request.chunk_bytes, memory); });
  memory = from_source(request);
  return memory;
}

/// A block that may be reused without waiting, or null.
void* StreamPool::from_held(const Request& request, bool is_first) {
  Lock lock(lock_);
  statistics_.allocations += is_first;
  if (!waiting_.empty()) settle_waiting(false, lock);
  Arena* arena = &arena_of(request.stream, lock);
  const auto any = [](const Block&) { return true; };
  Block* block = arena->bins(request.is_small).best(request.bytes, any);
  if (!block && !waiting_.empty()) {
    settle_waiting(true, lock);
    arena = &arena_of(request.stream, lock);  // another thread may have retired it meanwhile
    block = arena->bins(request.is_small).best(request.bytes, any);
  }
  if (!block)
    block = retired_.bins(request.is_small).best(request.bytes, [this](const Block& held) { return is_idle(held); });
  if (!block) return nullptr;
  reserve();
  ++statistics_.reuses;
  return hand_out(take(block, request.bytes), *arena);
}

void* StreamPool::from_source(const Request& request) {
  std::lock_guard growth(growth_);
  // Another thread may have grown the pool meanwhile.
  if (void* memory = from_held(request, false)) return memory;
  if (void* memory = from_new_chunk(request)) return memory;
  const size_t limit = statistics().limit_bytes;
  if (limit && request.bytes > limit) raise_out_of_memory(request.requested);
  give_back(nullptr);
  if (void* memory = from_held(request, false)) return memory;
  if (void* memory = from_new_chunk(request)) return memory;
  if (void* memory = from_other_streams(request)) return memory;
  raise_out_of_memory(request.requested);
}

void* StreamPool::from_new_chunk(const Request& request) {
  {
    Guard guard(lock_);
    const size_t total = statistics_.used_bytes + statistics_.held_bytes + request.chunk_bytes;
    if (statistics_.limit_bytes && total > statistics_.limit_bytes) return nullptr;
  }
  void* const memory = source_->allocate(request.chunk_bytes);
  if (!memory) return nullptr;
  try {
    Lock lock(lock_);
    Arena& arena = arena_of(request.stream, lock);
    reserve();
    Block* block = spare_.pop_front();
    --spare_count_;
    block->address = static_cast<char*>(memory);
    block->bytes = request.chunk_bytes;
    block->arena = &arena;
    block->released = 0;
    statistics_.held_bytes += block->bytes;
    if (request.is_small) block = open_page(block);
    cut(block, request.bytes);
    return hand_out(block, arena);
  } catch (...) {  // there is no host memory to record the chunk
    source_->release(memory, request.chunk_bytes);
    throw;
  }
}

/// After the device was waited for: a block of any stream; for a small request also a page of a large block.
void* StreamPool::from_other_streams(const Request& request) {
  Lock lock(lock_);
  Arena& arena = arena_of(request.stream, lock);
  reserve();
  Block* block = best_of_all(arena, request.is_small, request.bytes);
  if (block) {
    take(block, request.bytes);
  } else {
    block = request.is_small ? best_of_all(arena, false, kPage) : nullptr;
    if (!block) return nullptr;
    take(block, kPage)->arena = &arena;
    block = open_page(block);
    cut(block, request.bytes);
  }
  ++statistics_.reuses;
  return hand_out(block, arena);
}

// Releasing memory.

bool StreamPool::release(void* memory) noexcept {
  if (!memory) return true;
  if (!is_hooked()) return release_block(memory);
  size_t bytes = 0;
  {
    Guard guard(lock_);
    const Block* const block = live_.find(memory);
    if (!block) return false;
    bytes = block->bytes;
  }
  HookScope hooks([&](PoolHook& hook) { hook.free_preprocess(name_, memory, bytes); },
                  [&](PoolHook& hook) { hook.free_postprocess(name_, memory, bytes); });
  return release_block(memory);
}

bool StreamPool::release_block(void* memory) noexcept {
  Block* block;
  {
    Guard guard(lock_);
    block = live_.erase(memory);
    if (!block) return false;
    statistics_.used_bytes -= block->bytes;
    statistics_.held_bytes += block->bytes;
    block->released = epoch_;
    if (block->uses.empty()) {
      put_back(block);
      return true;
    }
    waiting_.push_back(block);
    ++waiting_count_;
    const bool can_record = captures_.empty() && !is_forked();
    block->state = can_record ? Block::State::recording : Block::State::waiting;
    if (!can_record) return true;
  }
  record_uses(block);
  return true;
}

/// Records the uses that could not be recorded during a capture. The lock is open, because the driver waits if a stream
/// is full, perhaps for a host function that releases memory.
void StreamPool::record_uses(Block* block) noexcept {
  for (Block::Use& use : block->uses)
    if (!use.event && use.stream != kNoStream) use.event = source_->record(use.stream, use.device);
  Guard guard(lock_);
  block->state = Block::State::waiting;
}

/// Records the use now, because the owner of the stream may destroy it before the block is released.
bool StreamPool::record_use(void* memory, StreamHandle stream, int device) {
  bool can_record = false;
  {
    Guard guard(lock_);
    Block* const block = live_.find(memory);
    if (!block) return false;
    if (block->arena->stream == stream && device == device_) return true;
    block->uses.reserve(block->uses.size() + 1);
    can_record = captures_.empty() && !is_forked();
  }
  const auto is_same = [&](const Block::Use& use) {
    return use.stream == stream && use.device == device && !use.lasts_until_release;
  };
  const Block::Use use{stream, device, can_record ? source_->record(stream, device) : nullptr};
  void* replaced = nullptr;
  {
    Guard guard(lock_);
    std::vector<Block::Use>& uses = live_.find(memory)->uses;  // alive: the caller owns it
    const auto earlier = std::ranges::find_if(uses, is_same);
    if (earlier == uses.end()) {
      uses.push_back(use);
    } else {
      replaced = std::exchange(*earlier, use).event;
    }
  }
  if (replaced) source_->release_event(replaced);
  return true;
}

bool StreamPool::use_until_release(void* memory, StreamHandle stream, int device) {
  const Guard guard(lock_);
  Block* const block = live_.find(memory);
  if (!block) return false;
  if (block->arena->stream != stream || device != device_) block->uses.push_back({stream, device, nullptr, true});
  return true;
}

/// Frees the blocks whose uses have finished; unless `all`, stops at the first that must wait. The lock is open during
/// calls of the driver, which may wait for a host function that releases memory.
void StreamPool::settle_waiting(bool all, Lock& lock) {
  constexpr size_t kSome = 16;
  lock.unlock();
  std::unique_lock settling(settling_, std::defer_lock);
  if (all)
    settling.lock();
  else if (!settling.try_lock())
    return lock.lock();
  lock.lock();
  const size_t most = all ? waiting_count_ : kSome;
  lock.unlock();
  std::vector<Waiting> asked;
  asked.reserve(most);  // without the lock, on which other threads spin
  lock.lock();
  // Asking for an event is one of the things that break a capture.
  const bool may_ask = captures_.empty() && !is_forked();
  waiting_.visit_while([&](Block* block) {
    const bool is_recorded = block->state != Block::State::recording;
    if (asked.size() == most || !(is_recorded || all)) return false;
    if (is_recorded) asked.push_back({block, is_idle(*block), may_ask});
    return true;
  });
  lock.unlock();
  // Waiting blocks do not change here, because only the thread that holds settling_ changes them.
  size_t done = 0;
  for (const Waiting& each : asked) {
    if (is_done(each))
      asked[done++] = each;
    else if (!all)
      break;
  }
  std::vector<std::vector<Block::Use>> finished(done);
  lock.lock();
  for (size_t k = 0; k < done; ++k) {
    waiting_.remove(asked[k].block);
    --waiting_count_;
    finished[k].swap(asked[k].block->uses);
    put_back(asked[k].block);
  }
  lock.unlock();
  for (const std::vector<Block::Use>& uses : finished)
    for (const Block::Use& use : uses)
      if (use.event) source_->release_event(use.event);
  lock.lock();
}

bool StreamPool::is_done(const Waiting& waiting) const {
  if (waiting.is_idle || !waiting.may_ask) return waiting.is_idle;
  return std::ranges::all_of(waiting.block->uses,
                             [&](const Block::Use& use) { return use.event && source_->is_done(use.event); });
}

// Blocks, under the lock.

/// Allocates host memory for one request, which then cannot fail for lack of it.
void StreamPool::reserve() {
  live_.reserve_one();
  if (spare_count_ >= kBlocksForRequest) return;
  slabs_.push_back(std::make_unique<Block[]>(kSlab));
  for (size_t k = 0; k < kSlab; ++k) recycle(&slabs_.back()[k]);
}

void StreamPool::recycle(Block* block) {
  block->arena = nullptr;
  block->page = block->before = block->after = nullptr;
  spare_.push_front(block);
  ++spare_count_;
}

/// The smallest free block of at least `bytes` among the arena's own and all idle ones, or null.
Block* StreamPool::best_of_all(const Arena& own, bool is_small, size_t bytes) {
  Block* best = nullptr;
  const auto look_in = [&](Arena& arena) {
    Block* const block =
        arena.bins(is_small).best(bytes, [&](const Block& held) { return held.arena == &own || is_idle(held); });
    if (block && (!best || block->bytes < best->bytes)) best = block;
  };
  look_in(retired_);
  for (const auto& arena : arenas_)
    if (arena->graph == 0 || arena.get() == &own) look_in(*arena);
  return best;
}

void* StreamPool::hand_out(Block* block, Arena& arena) {
  block->arena = &arena;
  block->state = Block::State::used;
  live_.insert(block->address, block);
  statistics_.held_bytes -= block->bytes;
  statistics_.used_bytes += block->bytes;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.used_bytes);
  return block->address;
}

/// Takes `bytes` of a free block out of the bins; the rest stays there.
Block* StreamPool::take(Block* block, size_t bytes) {
  block->arena->bins_of(*block).remove(block);
  cut(block, bytes);
  return block;
}

/// Shortens the block to `bytes`; the rest becomes a free block behind it.
void StreamPool::cut(Block* block, size_t bytes) {
  if (block->bytes == bytes) return;
  Block* const rest = spare_.pop_front();
  --spare_count_;
  rest->address = block->address + bytes;
  rest->bytes = block->bytes - bytes;
  rest->arena = block->arena;
  rest->page = block->page;
  rest->released = block->released;
  rest->before = block;
  rest->after = block->after;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  add_free(rest);
}

/// Makes the large block a page; gives the small block that fills it.
Block* StreamPool::open_page(Block* page) {
  page->state = Block::State::page;
  Block* const block = spare_.pop_front();
  --spare_count_;
  block->address = page->address;
  block->bytes = page->bytes;
  block->arena = page->arena;
  block->page = page;
  block->released = page->released;
  return block;
}

void StreamPool::add_free(Block* block) {
  block->state = Block::State::free;
  block->arena->bins_of(*block).add(block);
}

/// Merges the block with the neighbours that `take(neighbour)` has taken off their list.
template <class Take>
void StreamPool::join_neighbours(Block* block, Take take) {
  const auto absorb = [&](Block* neighbour) {
    block->bytes += neighbour->bytes;
    block->released = std::max(block->released, neighbour->released);
    recycle(neighbour);
  };
  while (Block* const after = block->after) {
    if (!take(after)) break;
    block->after = after->after;
    if (block->after) block->after->before = block;
    absorb(after);
  }
  while (Block* const before = block->before) {
    if (!take(before)) break;
    block->address = before->address;
    block->before = before->before;
    if (block->before) block->before->after = block;
    absorb(before);
  }
}

/// Frees a block that is on no list. A page cut from a larger chunk goes back with its last block.
void StreamPool::put_back(Block* block) {
  join_neighbours(block, [&](Block* neighbour) {
    if (neighbour->state != Block::State::free || neighbour->arena != block->arena) return false;
    neighbour->arena->bins_of(*neighbour).remove(neighbour);
    return true;
  });
  Block* const page = block->page;
  if (!page || !block->is_whole() || page->is_whole()) return add_free(block);
  page->arena = block->arena;
  page->released = block->released;
  recycle(block);
  put_back(page);
}

// Arenas of streams and graphs, under the lock.

/// May open the lock for a while.
Arena& StreamPool::arena_of(StreamHandle stream, Lock& lock) {
  if (const uint64_t graph = captures_.empty() ? 0 : graph_of(stream, lock)) {
    for (const auto& arena : arenas_)
      if (arena->stream == stream && arena->graph == graph) return *arena;
    return add_arena(stream, graph);
  }
  Arena* const arena = streams_.find(stream);
  return arena ? *arena : add_arena(stream, 0);
}

Arena& StreamPool::add_arena(StreamHandle stream, uint64_t graph) {
  streams_.reserve_one();
  arenas_.push_back(std::make_unique<Arena>(stream, graph));
  if (graph == 0) streams_.insert(stream, arenas_.back().get());
  return *arenas_.back();
}

/// The graph that is being captured on `stream`, or 0. The lock is open during the call of the driver.
uint64_t StreamPool::graph_of(StreamHandle stream, Lock& lock) {
  while (!captures_.empty()) {
    const std::vector<Capture> captures = captures_;
    lock.unlock();
    const auto found = std::ranges::find_if(captures, [&](const Capture& capture) {
      return capture.stream == stream || source_->same_capture(capture.stream, stream);
    });
    lock.lock();
    if (found == captures.end()) return 0;
    if (std::ranges::count(captures_, found->graph, &Capture::graph)) return found->graph;
  }
  return 0;
}

/// Gives the arena's blocks, of which the free ones are idle if `is_done`, to all.
void StreamPool::retire(Arena& arena, bool is_done) {
  for (const bool is_small : {true, false})
    arena.bins(is_small).for_each([&](Block* block) {
      arena.bins(is_small).remove(block);
      block->arena = &retired_;
      if (is_done) block->released = 0;
      put_back(block);
    });
  const auto move = [&](Block* block) {
    if (block->arena == &arena) block->arena = &retired_;
    return true;
  };
  live_.for_each(move);
  waiting_.visit_while(move);
  if (arena.graph == 0) streams_.erase(arena.stream);
  std::erase_if(arenas_, [&](const auto& owned) { return owned.get() == &arena; });
}

void StreamPool::forget_stream(StreamHandle stream, bool is_done) {
  const auto is_unmarked = [&](const Block::Use& use) { return use.stream == stream && !use.event; };
  const auto forget_uses = [&](Block* block) {
    if (is_done) {
      std::erase_if(block->uses, is_unmarked);
    } else {
      for (Block::Use& use : block->uses)
        if (is_unmarked(use)) use.stream = kNoStream;  // only a wait for the device shows when it is done
    }
    return true;
  };
  std::lock_guard settling(settling_);
  Lock lock(lock_);
  while (is_marking(stream)) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  if (Arena* const arena = streams_.find(stream)) retire(*arena, is_done);
  live_.for_each(forget_uses);
  waiting_.visit_while(forget_uses);
}

/// Whether a thread that released a block marks work of the stream.
bool StreamPool::is_marking(StreamHandle stream) const {
  bool found = false;
  waiting_.visit_while([&](const Block* block) {
    found = block->state == Block::State::recording && std::ranges::count(block->uses, stream, &Block::Use::stream) > 0;
    return !found;
  });
  return found;
}

void StreamPool::begin_capture(StreamHandle stream, uint64_t graph) {
  check_not_forked("begin_capture");
  if (graph == 0) throw ValueError("begin_capture: a graph's number must not be 0");
  std::lock_guard growth(growth_);  // no other thread waits for the device now
  Guard guard(lock_);
  for (const Capture& capture : captures_)
    if (capture.stream == stream)
      throw ValueError("begin_capture: the stream is being captured for graph " + std::to_string(capture.graph));
  captures_.push_back({stream, graph});
}

void StreamPool::end_capture(StreamHandle stream) {
  check_not_forked("end_capture");
  std::lock_guard growth(growth_);
  std::lock_guard settling(settling_);
  std::vector<Block*> unrecorded;  // because of the capture
  {
    Guard guard(lock_);
    std::erase_if(captures_, [&](const Capture& capture) { return capture.stream == stream; });
    if (!captures_.empty()) return;
    waiting_.visit_while([&](Block* block) {
      const bool is_marked = std::ranges::all_of(block->uses, [](const Block::Use& use) { return use.event; });
      if (block->state == Block::State::waiting && !is_marked) unrecorded.push_back(block);
      return true;
    });
    for (Block* block : unrecorded) block->state = Block::State::recording;
  }
  for (Block* block : unrecorded) record_uses(block);
}

void StreamPool::release_graph(uint64_t graph) {
  Guard guard(lock_);
  for (size_t k = arenas_.size(); k-- > 0;)
    if (graph != 0 && arenas_[k]->graph == graph) retire(*arenas_[k]);
}

// Returning chunks to the source; growth_ is held.

/// Waits for the device. If it returns true, all blocks that were released before are idle.
bool StreamPool::synchronize() {
  uint64_t epoch;
  {
    Guard guard(lock_);
    if (!captures_.empty()) return false;
    epoch = epoch_++;
  }
  if (!source_->synchronize()) return false;
  Guard guard(lock_);
  finished_epoch_ = epoch;
  return true;
}

bool StreamPool::wait_for_device() {
  std::lock_guard growth(growth_);
  return synchronize();
}

void StreamPool::give_back(const StreamHandle* only_stream) {
  synchronize();
  BlockList chunks;
  {
    Lock lock(lock_);
    settle_waiting(true, lock);
    chunks = collect(only_stream);
  }
  while (Block* const chunk = chunks.pop_front()) {
    source_->release(chunk->address, chunk->bytes);
    Guard guard(lock_);
    recycle(chunk);
  }
}

/// Under the lock: merges idle blocks whatever their streams, and takes chunks that have become whole out of the pool.
BlockList StreamPool::collect(const StreamHandle* only_stream) {
  BlockList found, chunks;
  const auto gather = [&](Arena& arena, bool is_small) {
    arena.bins(is_small).for_each([&](Block* block) {
      if (!is_idle(*block)) return;
      arena.bins(is_small).remove(block);
      block->state = Block::State::collected;
      found.push_back(block);
    });
  };
  BlockList pages;
  for (const bool is_small : {true, false}) {
    found = std::exchange(pages, {});
    if (!only_stream) gather(retired_, is_small);
    for (const auto& arena : arenas_)
      if (arena->graph == 0 && (!only_stream || *only_stream == arena->stream)) gather(*arena, is_small);
    while (Block* const block = found.pop_front()) {
      join_neighbours(block, [&](Block* neighbour) {
        if (neighbour->state != Block::State::collected) return false;
        found.remove(neighbour);
        return true;
      });
      if (!block->is_whole()) {
        add_free(block);
      } else if (Block* const page = block->page) {
        page->arena = block->arena;
        page->released = block->released;
        page->state = Block::State::collected;
        recycle(block);
        pages.push_back(page);
      } else {
        statistics_.held_bytes -= block->bytes;
        chunks.push_back(block);
      }
    }
  }
  return chunks;
}

void StreamPool::free_all_blocks() {
  check_not_forked("free_all_blocks");
  std::lock_guard growth(growth_);
  give_back(nullptr);
}

void StreamPool::free_all_blocks(StreamHandle stream) {
  check_not_forked("free_all_blocks");
  std::lock_guard growth(growth_);
  give_back(&stream);
}

// Statistics and errors.

PoolStatistics StreamPool::statistics() const {
  Guard guard(lock_);
  return statistics_;
}

size_t StreamPool::free_blocks() const {
  Guard guard(lock_);
  size_t count = retired_.small.count() + retired_.large.count();
  for (const auto& arena : arenas_) count += arena->small.count() + arena->large.count();
  return count;
}

void StreamPool::set_limit(size_t bytes) {
  Guard guard(lock_);
  statistics_.limit_bytes = bytes;
}

void StreamPool::raise_out_of_memory(size_t requested) const {
  const PoolStatistics now = statistics();
  throw OutOfMemoryError("out of memory on " + name_ + ": requested " + std::to_string(requested) + " bytes; used " +
                         std::to_string(now.used_bytes) + ", held " + std::to_string(now.held_bytes) + ", limit " +
                         (now.limit_bytes ? std::to_string(now.limit_bytes) : "none"));
}

void StreamPool::check_not_forked(const char* function) const {
  if (is_forked())
    throw DeviceError(std::string(function) + ": memory of " + name_ +
                      " cannot be had in a child of fork(); start the process with the method 'spawn'");
}

void* PinnedPool::allocate(size_t bytes) { return StreamPool::allocate(bytes, kNoStream); }

}  // namespace iruka::cuda_backend

namespace iruka::cuda {

using cuda_backend::hook_count, cuda_backend::thread_hooks;

void PoolHook::enter() {
  if (std::ranges::count(thread_hooks, this)) throw ValueError("PoolHook::enter: the hook is already active");
  thread_hooks.push_back(this);
  ++hook_count;
}

void PoolHook::leave() {
  if (std::erase(thread_hooks, this) == 0) throw ValueError("PoolHook::leave: the hook is not active");
  --hook_count;
}

}  // namespace iruka::cuda
