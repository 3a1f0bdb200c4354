// Blocks of threads on the CPU: CUDA's names for kernels over a grid, and the loop over a grid's blocks. A text defines
// IRUKA_BLOCK_X, _Y and _Z in front of this header, includes the user's text behind it, and ends with
// IRUKA_RUN_BLOCKS(kernel). The compiler (backend/cpu/compiler/block_kernel.h) runs the threads of a unit in lanes, and
// makes units that wait for each other coroutines. The user's macros apply to what stands behind the user's text, so
// names there begin with iruka.
#ifdef IRUKA_BLOCK_X  // without it, as in the precompiled prelude, this header is empty
#ifndef IRUKA_BLOCKS
#define IRUKA_BLOCKS

// The compiler does not know which thread writes a __shared__ variable.
#pragma clang diagnostic ignored "-Wuninitialized"
#pragma clang diagnostic ignored "-Wsometimes-uninitialized"
#pragma clang diagnostic ignored "-Wconditional-uninitialized"
#pragma clang diagnostic ignored "-Wunknown-pragmas"
// A format that does not fit its arguments reads memory that it must not read.
#pragma clang diagnostic error "-Wformat"
#pragma clang diagnostic error "-Wformat-nonliteral"
#pragma clang diagnostic error "-Wformat-security"

#undef __shared__
#undef __syncthreads
#undef __syncwarp
#undef __constant__
#define __shared__ __attribute__((__annotate__("iruka_shared")))
#define __constant__ __attribute__((__annotate__("iruka_constant")))
#define __launch_bounds__(...) __attribute__((__annotate__("iruka_launch_bounds", __VA_ARGS__)))
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

#define IRUKA_VECTORS(name, type, bytes)                                                         \
  struct name##1 { type x; };                                                                    \
  struct __attribute__((aligned(2 * bytes))) name##2 { type x, y; };                             \
  struct name##3 { type x, y, z; };                                                              \
  struct __attribute__((aligned(4 * bytes > 16 ? 16 : 4 * bytes))) name##4 { type x, y, z, w; }; \
  IRUKA_INLINE name##1 make_##name##1(type x) { return {x}; }                                    \
  IRUKA_INLINE name##2 make_##name##2(type x, type y) { return {x, y}; }                         \
  IRUKA_INLINE name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }              \
  IRUKA_INLINE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
IRUKA_VECTORS(char, signed char, 1)
IRUKA_VECTORS(uchar, unsigned char, 1)
IRUKA_VECTORS(short, short, 2)
IRUKA_VECTORS(ushort, unsigned short, 2)
IRUKA_VECTORS(int, int, 4)
IRUKA_VECTORS(uint, unsigned, 4)
IRUKA_VECTORS(long, long, 8)
IRUKA_VECTORS(ulong, unsigned long, 8)
IRUKA_VECTORS(longlong, long long, 8)
IRUKA_VECTORS(ulonglong, unsigned long long, 8)
IRUKA_VECTORS(float, float, 4)
IRUKA_VECTORS(double, double, 8)
#undef IRUKA_VECTORS

using uint = unsigned;
using ushort = unsigned short;

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#define IRUKA_DOT(name, A, B, Sum) \
  IRUKA_INLINE Sum name(A a, B b, Sum sum) { return name(__builtin_bit_cast(Sum, a), __builtin_bit_cast(Sum, b), sum); }
IRUKA_DOT(__dp4a, char4, char4, int)
IRUKA_DOT(__dp4a, uchar4, uchar4, unsigned)
IRUKA_DOT(__dp2a_lo, short2, char4, int)
IRUKA_DOT(__dp2a_lo, ushort2, uchar4, unsigned)
IRUKA_DOT(__dp2a_hi, short2, char4, int)
IRUKA_DOT(__dp2a_hi, ushort2, uchar4, unsigned)
#undef IRUKA_DOT

// The compiler replaces these by what IRUKA_RUN_BLOCKS binds to them.
extern "C" {
extern const uint3 threadIdx, blockIdx;
extern const uint3 iruka_grid;
extern const unsigned iruka_lane;  ///< of the thread within its unit
void iruka_bind_thread(const uint3* thread, const uint3* block, const uint3* grid, const unsigned* lane,
                       unsigned char* shared, unsigned char* dynamic) noexcept;
/// The threads of a unit, which are lanes of one vector, of `threads` threads in rows of `row`.
int iruka_unit_lanes(int threads, int row) noexcept __attribute__((const));
bool iruka_units_divide_rows(void) noexcept __attribute__((const));    ///< a unit is part of a row, or a whole row
bool iruka_units_divide_blocks(void) noexcept __attribute__((const));  ///< all units have as many threads
/// The bytes of all __shared__ variables of known size.
size_t iruka_shared_bytes(void) noexcept __attribute__((const));
/// Whether the kernel uses dynamic shared memory.
bool iruka_has_dynamic(void) noexcept __attribute__((const));

// All threads of the unit that reach these calls run them together.
void iruka_barrier(void) noexcept __attribute__((convergent));
void iruka_grid_barrier(void) noexcept __attribute__((convergent));
void iruka_unit_fence(void) noexcept __attribute__((convergent));
long long iruka_ballot(bool predicate) noexcept __attribute__((convergent));
int iruka_shuffle_32(int value, unsigned lane) noexcept __attribute__((convergent));
long long iruka_shuffle_64(long long value, unsigned lane) noexcept __attribute__((convergent));

void* iruka_take_memory(size_t bytes) noexcept;  ///< of this OS thread; null where there is none
size_t iruka_memory_mark(void) noexcept;         ///< for iruka_return_memory
void iruka_return_memory(size_t mark) noexcept;  ///< gives back what was taken since
void iruka_fill_margin(unsigned char* margin, size_t bytes) noexcept;
/// Notes a failed assertion where the margin's bytes have changed.
void iruka_check_margin(const unsigned char* margin, size_t bytes) noexcept;
void iruka_lane_loop(uint64_t) noexcept;
int printf(const char*, ...) __attribute__((format(printf, 1, 2)));
}

constexpr dim3 blockDim{IRUKA_BLOCK_X, IRUKA_BLOCK_Y, IRUKA_BLOCK_Z};
constexpr int warpSize = 32;
#define gridDim (dim3(iruka_grid))

namespace iruka {

constexpr unsigned kBlockX = IRUKA_BLOCK_X, kBlockY = IRUKA_BLOCK_Y, kBlockZ = IRUKA_BLOCK_Z;
constexpr unsigned kBlockThreads = kBlockX * kBlockY * kBlockZ;

template <class T> IRUKA_INLINE T shuffled(T x, unsigned lane) {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, iruka_shuffle_64(__builtin_bit_cast(long long, x), lane));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, iruka_shuffle_32(__builtin_bit_cast(int, x), lane));
  } else if constexpr (sizeof(T) < 4) {
    int word = 0;
    __builtin_memcpy(&word, &x, sizeof(T));
    word = iruka_shuffle_32(word, lane);
    __builtin_memcpy(&x, &word, sizeof(T));
    return x;
  } else {
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &x, sizeof(T));
    for (int& word : words) word = iruka_shuffle_32(word, lane);
    __builtin_memcpy(&x, words, sizeof(T));
    return x;
  }
}

/// The last lane of the segment of `width` lanes.
IRUKA_INLINE unsigned last_of_segment(int width) { return (iruka_lane & ~(width - 1u)) | (width - 1u); }

/// The sum of a number over the threads of the block that reach this.
IRUKA_INLINE int sum_of_block(int number) {
  __shared__ int sum;
  iruka_barrier();
  sum = 0;  // by all, because any thread may have ended
  iruka_barrier();
  atomicAdd(&sum, number);
  iruka_barrier();
  return sum;
}

template <class T, class Operation> IRUKA_INLINE T reduced(unsigned mask, T x, Operation operation) {
  const unsigned active = mask & (unsigned)iruka_ballot(true);
  T result = x;
  bool is_first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const T other = shuffled(x, lane);
    if (!(active >> lane & 1)) continue;
    result = is_first ? other : operation(result, other);
    is_first = false;
  }
  return result;
}

}  // namespace iruka

#define __syncthreads() iruka_barrier()
#define __syncwarp(...) iruka_unit_fence()
IRUKA_INLINE int __syncthreads_count(int predicate) { return iruka::sum_of_block(predicate != 0); }
IRUKA_INLINE int __syncthreads_or(int predicate) { return iruka::sum_of_block(predicate != 0) != 0; }
IRUKA_INLINE int __syncthreads_and(int predicate) { return iruka::sum_of_block(predicate == 0) == 0; }
#define __trap() assert(!"__trap()")
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define NULL __null
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS
#define __threadfence_block() __threadfence()
#define __threadfence_system() __threadfence()

IRUKA_INLINE unsigned __activemask() { return (unsigned)iruka_ballot(true); }
IRUKA_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return (unsigned)iruka_ballot(predicate != 0) & mask;
}
IRUKA_INLINE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
IRUKA_INLINE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0; }
template <class T> IRUKA_INLINE T __shfl_sync(unsigned, T x, int lane, int width = 32) {
  return iruka::shuffled(x, (iruka_lane & ~(width - 1u)) | ((unsigned)lane & (width - 1u)));
}
template <class T> IRUKA_INLINE T __shfl_up_sync(unsigned, T x, unsigned delta, int width = 32) {
  return iruka::shuffled(x, (iruka_lane & (width - 1u)) < delta ? iruka_lane : iruka_lane - delta);
}
template <class T> IRUKA_INLINE T __shfl_down_sync(unsigned, T x, unsigned delta, int width = 32) {
  return iruka::shuffled(x, (iruka_lane & (width - 1u)) + delta >= (unsigned)width ? iruka_lane : iruka_lane + delta);
}
template <class T> IRUKA_INLINE T __shfl_xor_sync(unsigned, T x, int lanes, int width = 32) {
  const unsigned lane = iruka_lane ^ (unsigned)lanes;
  return iruka::shuffled(x, lane > iruka::last_of_segment(width) ? iruka_lane : lane);
}
template <class T> IRUKA_INLINE unsigned __match_any_sync(unsigned mask, T x) {
  const unsigned active = mask & __activemask();
  unsigned equal = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const T other = iruka::shuffled(x, lane);
    equal |= (unsigned)(__builtin_memcmp(&other, &x, sizeof(T)) == 0) << lane;
  }
  return equal & active;
}
template <class T> IRUKA_INLINE unsigned __match_all_sync(unsigned mask, T x, int* predicate) {
  const unsigned active = mask & __activemask(), equal = __match_any_sync(mask, x);
  *predicate = __all_sync(mask, equal == active);
  return *predicate ? active : 0;
}
#define IRUKA_REDUCE(name, expression)                                                             \
  IRUKA_INLINE int name(unsigned mask, int x) {                                                    \
    return iruka::reduced(mask, x, [](int a, int b) { return (int)(expression); });                \
  }                                                                                                \
  IRUKA_INLINE unsigned name(unsigned mask, unsigned x) {                                          \
    return iruka::reduced(mask, x, [](unsigned a, unsigned b) { return (unsigned)(expression); }); \
  }
IRUKA_REDUCE(__reduce_add_sync, (unsigned)a + (unsigned)b)
IRUKA_REDUCE(__reduce_min_sync, a < b ? a : b)
IRUKA_REDUCE(__reduce_max_sync, a > b ? a : b)
IRUKA_REDUCE(__reduce_and_sync, a& b)
IRUKA_REDUCE(__reduce_or_sync, a | b)
IRUKA_REDUCE(__reduce_xor_sync, a ^ b)
#undef IRUKA_REDUCE

namespace iruka {

/// The beginning of a launch's arguments; the kernel's parameters follow, each at its alignment.
struct LaunchHead {
  unsigned x, y, z, dynamic_bytes;
};

struct Block {
  unsigned at_grid_barrier;  ///< units that wait for the grid. The compiler counts them; it knows this place
  uint3 index, grid;
  unsigned char *shared, *dynamic;
  const unsigned char* parameters;  ///< of which offsets count from the launch's head
};

/// The head of a suspended coroutine's frame.
struct Frame {
  void (*resume)(Frame*);  ///< null once the coroutine has ended
};

/// Units are whole rows or parts of rows where rows are long enough, so that the row is the same for all lanes.
IRUKA_INLINE void find_thread(uint3& thread, ptrdiff_t first, ptrdiff_t lane) {
  const unsigned begin = (unsigned)first;
  if (iruka_units_divide_rows()) {
    thread.x = begin % kBlockX + (unsigned)lane;
    thread.y = begin / kBlockX % kBlockY;
    thread.z = begin / (kBlockX * kBlockY);
  } else {
    const unsigned number = (unsigned)(first + lane), row = number / kBlockX;
    thread.x = number % kBlockX;
    thread.y = row % kBlockY;
    thread.z = row / kBlockY;
  }
}

template <class... T> struct Offsets {
  static constexpr size_t kCount = sizeof...(T);
  size_t values[kCount + 1] = {};
  constexpr Offsets() {
    constexpr size_t sizes[kCount + 1] = {sizeof(T)...}, alignments[kCount + 1] = {alignof(T)...};
    size_t offset = sizeof(LaunchHead);
    for (size_t k = 0; k < kCount; ++k) {
      values[k] = (offset + alignments[k] - 1) / alignments[k] * alignments[k];
      offset = values[k] + sizes[k];
    }
  }
};

template <class T, T... k> struct Numbers {};

template <auto kernel, class... P, size_t... k>
IRUKA_INLINE void call(void (*)(P...), Numbers<size_t, k...>, const unsigned char* parameters) {
  constexpr Offsets<P...> offsets;
  kernel(*(const P*)(parameters + offsets.values[k])...);
}

template <auto kernel, class... P> IRUKA_INLINE void call(void (*)(P...), const unsigned char* parameters) {
  call<kernel>((void (*)(P...)) nullptr, __make_integer_seq<Numbers, size_t, sizeof...(P)>(), parameters);
}

}  // namespace iruka

/// The threads of one unit. The result is a coroutine's frame, or null where no thread has waited.
extern "C" void* iruka_unit(const iruka::Block* block, ptrdiff_t first) noexcept;

template <auto kernel> IRUKA_INLINE void* iruka_run_unit(const iruka::Block* block, ptrdiff_t first) {
  using namespace iruka;
  const ptrdiff_t lanes = iruka_unit_lanes(kBlockThreads, kBlockX), left = kBlockThreads - first;
  const ptrdiff_t count = iruka_units_divide_blocks() || left > lanes ? lanes : left;
  _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (ptrdiff_t k = 0; k < count; ++k) {
    iruka_lane_loop(14);
    // An index of 64 bits does not wrap with the 32 bits of threadIdx, so that it advances with the lanes.
    __builtin_assume(k >= 0 && k < 1024);
    uint3 thread;
    find_thread(thread, first, k);
    const unsigned lane = (unsigned)k;
    iruka_bind_thread(&thread, &block->index, &block->grid, &lane, block->shared, block->dynamic);
    iruka::call<kernel>((decltype(kernel))nullptr, block->parameters);
  }
  return nullptr;
}

namespace iruka {

constexpr unsigned kMostUnits = kBlockThreads;

/// Runs the units of a block up to their first barrier, and returns how many wait there.
IRUKA_INLINE unsigned start_units(const Block& block, Frame** waiting) {
  const unsigned lanes = (unsigned)iruka_unit_lanes(kBlockThreads, kBlockX);
  unsigned count = 0;
  for (unsigned first = 0; first < kBlockThreads; first += lanes) {
    if (Frame* frame = (Frame*)iruka_unit(&block, first)) waiting[count++] = frame;
  }
  return count;
}

/// A barrier lets go when all units that have not ended wait at one. Runs them up to their next.
IRUKA_INLINE unsigned resume_units(Frame** waiting, unsigned count) {
  unsigned left = 0;
  for (unsigned k = 0; k < count; ++k) {
    Frame* frame = waiting[k];
    frame->resume(frame);
    if (frame->resume) waiting[left++] = frame;
  }
  return left;
}

/// The bytes behind a block's dynamic shared memory that nothing else uses. Most kernels whose launch gives too few
/// bytes index no more than CUDA's default limit. Of cooperative launches all blocks have memory at once.
IRUKA_INLINE size_t margin_bytes(const LaunchHead& head, bool is_cooperative) {
  constexpr size_t kUsualLimit = 48 << 10, kLeast = 4 << 10;
  if (!iruka_has_dynamic()) return 64;
  const bool is_small = !is_cooperative && head.dynamic_bytes + kLeast < kUsualLimit;
  return is_small ? kUsualLimit - head.dynamic_bytes : kLeast;
}

/// The bytes of the margin that show whether threads wrote beyond the memory: too few bytes for the elements of a block
/// are those at the end.
constexpr size_t kCheckedMargin = 256;

/// Takes the memory of a block: its __shared__ variables, and others of so many bytes. False where there is none.
IRUKA_INLINE bool take_block(Block& block, const unsigned char* arguments, size_t others) {
  const LaunchHead& head = *(const LaunchHead*)arguments;
  const size_t fixed = (iruka_shared_bytes() + 63) / 64 * 64, margin = margin_bytes(head, others > 0);
  block = {0, {}, {head.x, head.y, head.z}, nullptr, nullptr, arguments};
  block.shared = (unsigned char*)iruka_take_memory(others + fixed + head.dynamic_bytes + margin);
  if (!block.shared) return false;
  block.dynamic = block.shared + others + fixed;
  if (iruka_has_dynamic()) iruka_fill_margin(block.dynamic + head.dynamic_bytes, kCheckedMargin);
  return true;
}

IRUKA_INLINE void check_block(const Block& block) {
  const LaunchHead& head = *(const LaunchHead*)block.parameters;
  if (iruka_has_dynamic()) iruka_check_margin(block.dynamic + head.dynamic_bytes, kCheckedMargin);
}

IRUKA_INLINE void set_index(Block& block, size_t k) {
  const size_t row = k / block.grid.x;
  block.index = {(unsigned)(k % block.grid.x), (unsigned)(row % block.grid.y), (unsigned)(row / block.grid.y)};
}

/// Runs the blocks from `begin` to `end` of a grid, in rows.
IRUKA_INLINE void run_blocks(const unsigned char* arguments, ptrdiff_t begin, ptrdiff_t end) {
  const size_t before = iruka_memory_mark();
  Block block;
  if (!take_block(block, arguments, 0)) return;
  const size_t mark = iruka_memory_mark();
  for (ptrdiff_t k = begin; k < end; ++k) {
    set_index(block, (size_t)k);
    Frame* waiting[kMostUnits];
    unsigned count = start_units(block, waiting);
    while (count > 0) count = resume_units(waiting, count);
    iruka_return_memory(mark);
  }
  check_block(block);
  iruka_return_memory(before);
}

/// A block of a grid whose blocks wait for each other (backend/cpu/compiler/compiler.h, GridBlocks).
struct SuspendedBlock {
  const unsigned char* arguments;
  void* state;       ///< null at first
  unsigned waiting;  ///< units that wait for the grid
};

struct SuspendedState {
  Block block;
  Frame* waiting[kMostUnits];
};

/// Runs block `number` until all of its units have ended or wait for the grid.
IRUKA_INLINE void run_until_grid_barrier(SuspendedBlock& suspended, size_t number) {
  SuspendedState* state = (SuspendedState*)suspended.state;
  unsigned count = suspended.waiting;
  suspended.waiting = 0;
  if (!state) {
    Block block;
    constexpr size_t kStateBytes = (sizeof(SuspendedState) + 63) / 64 * 64;
    if (!take_block(block, suspended.arguments, kStateBytes)) return;
    suspended.state = state = (SuspendedState*)block.shared;  // in front, because its alignment is known
    block.shared += kStateBytes;
    set_index(block, number);
    state->block = block;
    count = start_units(state->block, state->waiting);
  } else {
    count = resume_units(state->waiting, count);
  }
  while (count > 0 && state->block.at_grid_barrier == 0) count = resume_units(state->waiting, count);
  if (state->block.at_grid_barrier != count)
    return iruka_note_failed_assertion("all threads of a block wait for the grid together", "", 0, -1);
  state->block.at_grid_barrier = 0;
  suspended.waiting = count;
  if (count == 0) check_block(state->block);
}

}  // namespace iruka

IRUKA_INLINE void iruka_run_blocks(const void* arguments, ptrdiff_t begin, ptrdiff_t end) {
  iruka::run_blocks((const unsigned char*)arguments, begin, end);
}
IRUKA_INLINE void iruka_run_grid_block(const void* suspended, ptrdiff_t number) {
  iruka::run_until_grid_barrier(*(iruka::SuspendedBlock*)suspended, (size_t)number);
}
using iruka_block_type = iruka::Block;

#define IRUKA_RUN_BLOCKS(...)                                                                            \
  extern "C" void* iruka_unit(const iruka_block_type* iruka_block, long iruka_first) noexcept {          \
    return iruka_run_unit<&(__VA_ARGS__)>(iruka_block, iruka_first);                                     \
  }                                                                                                      \
  extern "C" void iruka_blocks(const void* iruka_arguments, long iruka_begin, long iruka_end) noexcept { \
    iruka_run_blocks(iruka_arguments, iruka_begin, iruka_end);                                           \
  }                                                                                                      \
  extern "C" void iruka_grid_blocks(const void* iruka_suspended, long iruka_number, long) noexcept {     \
    iruka_run_grid_block(iruka_suspended, iruka_number);                                                 \
  }

#endif
#endif
