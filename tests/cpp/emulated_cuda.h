// A GPU of one thread: runs the very texts meant for CUDA, block after block, with a stack for each CUDA thread. Every
// array is between two inaccessible pages, and the order of the threads changes at each barrier.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "guarded_memory.h"
#include "host_device.h"
#include "launch.h"

namespace iruka::test {

/// The launch's data for the emulated source, which declares it again.
struct EmulatedBlock {
  unsigned thread = 0, block = 0, threads = 0, blocks = 0;
  void (*barrier)(EmulatedBlock*) = nullptr;
  void (*run)(EmulatedBlock*, void (*kernel)(const void*, ptrdiff_t, ptrdiff_t)) = nullptr;
};

// Saves the registers that a call keeps, and takes those of the other stack.
extern "C" void iruka_switch_stack(void** from, void* to);
__asm__(R"(
.text
.p2align 4
.type iruka_switch_stack, @function
iruka_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size iruka_switch_stack, .-iruka_switch_stack
)");

/// One launch of a kernel.
class EmulatedLaunch : public EmulatedBlock {
 public:
  using Kernel = void (*)(const void*, ptrdiff_t, ptrdiff_t);

  /// `parameters` are those of an elementwise kernel: its arguments, the begin and the end of its range.
  EmulatedLaunch(std::span<const ParameterBytes> parameters, const LaunchGrid& grid)
      : arguments_(parameters[0].begin(), parameters[0].end()), grid_(grid) {
    std::memcpy(&begin_, parameters[1].data(), sizeof(begin_));
    std::memcpy(&end_, parameters[2].data(), sizeof(end_));
    arguments_.resize(parameters[0].size() + 16);  // the structure that a kernel takes may end in padding
    barrier = [](EmulatedBlock* self) { static_cast<EmulatedLaunch*>(self)->wait(); };
    run = [](EmulatedBlock* self, Kernel kernel) { static_cast<EmulatedLaunch*>(self)->run_blocks(kernel); };
  }

  void run_blocks(Kernel kernel) {
    kernel_ = kernel;
    blocks = grid_.blocks.x;
    threads = grid_.threads.x;
    for (block = 0; block < blocks; ++block) run_block();
  }

  bool diverged = false;  ///< some threads of a block met a barrier after others had ended

 private:
  static constexpr size_t kStackBytes = 32768;
  struct Fiber {
    void* stack = nullptr;
    bool done = false;
  };

  static std::vector<std::byte>& stacks(size_t threads) {
    static auto& memory = *new std::vector<std::byte>;
    if (memory.size() < threads * kStackBytes) memory.resize(threads * kStackBytes);
    return memory;
  }

  // ThreadSanitizer counts the calls that a thread is in. These two end in another stack and never return at a fiber's
  // end.
  __attribute__((no_sanitize("thread"), noinline)) static void start() {
    EmulatedLaunch* self = current_;
    self->kernel_(self->arguments_.data(), self->begin_, self->end_);
    self->fibers_[self->thread].done = true;
    self->wait();
  }

  __attribute__((no_sanitize("thread"), noinline)) void wait() {
    iruka_switch_stack(&fibers_[thread].stack, scheduler_);
  }

  void run_block() {
    current_ = this;
    auto& memory = stacks(threads);
    fibers_.assign(threads, {});
    for (unsigned k = 0; k < threads; ++k) {
      // Six saved registers, the address that `ret` takes, and 8 bytes that make the stack as a call finds it.
      auto top = reinterpret_cast<uintptr_t>(memory.data() + (k + 1) * kStackBytes) & ~uintptr_t{15};
      auto* stack = reinterpret_cast<void**>(top) - 8;
      std::fill(stack, stack + 8, nullptr);
      stack[6] = reinterpret_cast<void*>(&start);
      fibers_[k].stack = stack;
    }
    for (unsigned phase = 0, left = threads; left > 0; ++phase) {
      unsigned ended = 0, alive = left;
      for (unsigned k = 0; k < threads; ++k) {
        thread = phase % 2 ? threads - 1 - k : (k * 77 + phase) % threads;
        if (fibers_[thread].done) continue;
        iruka_switch_stack(&scheduler_, fibers_[thread].stack);
        if (fibers_[thread].done) ++ended;
      }
      left -= ended;
      diverged |= ended > 0 && ended < alive;
    }
  }

  static inline EmulatedLaunch* current_ = nullptr;
  std::vector<std::byte> arguments_;
  LaunchGrid grid_;
  int64_t begin_ = 0, end_ = 0;
  Kernel kernel_ = nullptr;
  std::vector<Fiber> fibers_;
  void* scheduler_ = nullptr;
};

class EmulatedCuda : public testing::HostDevice {
 public:
  EmulatedCuda() {
    target_.name = "cuda";
    target_.fingerprint = "emulated by " + std::string(kBefore) + kAfter + cpu().target().fingerprint;
    target_.kind = DeviceKind::cuda;
    target_.is_host = false;
    target_.needs_alignment = true;
    target_.multiprocessors = 1;
    target_.most_argument_bytes = 4080;
  }

  const std::string& name() const override { return name_; }
  const TargetDescription& target() const override { return target_; }

  void* allocate(size_t bytes) override {
    auto memory = std::make_unique<GuardedMemory>((std::max<size_t>(bytes, 1) + 15) / 16 * 16, Flush::back);
    void* const data = memory->data();
    memory_[data] = std::move(memory);
    return data;
  }
  void release(void* data, size_t) noexcept override { memory_.erase(data); }

  CompiledProgram compile(const ProgramSource& source) override {
    ProgramSource wrapped = source;
    wrapped.text = kBefore + source.text + kAfter;
    wrapped.options = {"-O0"};
    ++compiled;
    return cpu().compile(wrapped);
  }
  std::shared_ptr<const Module> load(std::string_view code, const std::string& name) override {
    return cpu().load(code, name);
  }

  void launch_grid(LaunchContext&, const Function& function, std::span<const ParameterBytes> parameters,
                   const LaunchGrid& grid) override {
    if (parameters[0].size() > target_.most_argument_bytes)
      throw DeviceError("emulated CUDA: too many bytes of arguments");
    EmulatedLaunch emulated(parameters, grid);
    EmulatedBlock* const block = &emulated;
    test::launch_on(cpu(), function, std::as_bytes(std::span(&block, 1)), LaunchRange{1});
    if (emulated.diverged) throw DeviceError("emulated CUDA: threads of a block ended before a barrier of others");
    ++launched;
  }

  int compiled = 0, launched = 0;

 private:
  static constexpr const char* kBefore = R"(
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct EmulatedIndex { unsigned x; };
struct EmulatedBlock {
  EmulatedIndex thread, block, threads, blocks;
  void (*barrier)(EmulatedBlock*);
  void (*run)(EmulatedBlock*, void (*kernel)(const void*, ptrdiff_t, ptrdiff_t));
};
static EmulatedBlock* emulated;
extern "C" { extern const char iruka_wraps_narrow_casts = 1; }  // as CUDA's compiler casts
#undef __shared__
#undef __syncthreads
#define __shared__ static
#define __syncthreads() emulated->barrier(emulated)
#define __launch_bounds__(...)
#define threadIdx emulated->thread
#define blockIdx emulated->block
#define blockDim emulated->threads
#define gridDim emulated->blocks
#define memcpy __builtin_memcpy
namespace iruka {
template <class Word> inline void store_word(Word* to, Word word) { *to = word; }
inline void publish_word(uint4* to, uint4 word) { *to = word; }
inline uint4 published_word(const uint4* from) { return *from; }
}
// Every thread of the block takes part.
inline unsigned* emulated_lanes(unsigned value) {
  static unsigned lanes[1024];
  lanes[threadIdx.x] = value;
  __syncthreads();
  return lanes + threadIdx.x / 32 * 32;
}
inline unsigned __shfl_up_sync(unsigned, unsigned value, unsigned distance) {
  const unsigned* lanes = emulated_lanes(value);
  const unsigned lane = threadIdx.x % 32, found = lanes[lane < distance ? lane : lane - distance];
  __syncthreads();
  return found;
}
inline unsigned __shfl_sync(unsigned, unsigned value, unsigned lane) {
  const unsigned found = emulated_lanes(value)[lane];
  __syncthreads();
  return found;
}
inline unsigned __ballot_sync(unsigned, bool value) {
  const unsigned* lanes = emulated_lanes(value);
  unsigned found = 0;
  for (int lane = 0; lane < 32; ++lane) found |= lanes[lane] << lane;
  __syncthreads();
  return found;
}
namespace iruka {
inline unsigned agreeing_lanes(unsigned digit, unsigned bit) {
  return __ballot_sync(0xffffffffu, (digit & bit) != 0) ^ (digit & bit ? 0u : 0xffffffffu);
}
}
#undef __syncwarp
#define __syncwarp(...) __syncthreads()
template <class Arguments> struct EmulatedKernel {
  static inline void (*entry)(Arguments, ptrdiff_t, ptrdiff_t);
  static void run(const void* arguments, ptrdiff_t begin, ptrdiff_t end) { entry(*(const Arguments*)arguments, begin, end); }
};
template <class Arguments> void emulated_run(void (*kernel)(Arguments, ptrdiff_t, ptrdiff_t)) {
  EmulatedKernel<Arguments>::entry = kernel;
  emulated->run(emulated, EmulatedKernel<Arguments>::run);
}
#define iruka_entry iruka_kernel
)";
  static constexpr const char* kAfter = R"(
#undef iruka_entry
extern "C" void iruka_entry(const unsigned char* block, ptrdiff_t, ptrdiff_t) {
  emulated = *(EmulatedBlock* const*)block;
  emulated_run(iruka_kernel);
}
)";

  std::string name_ = "emulated";
  TargetDescription target_;
  std::map<void*, std::unique_ptr<GuardedMemory>> memory_;
};

inline EmulatedCuda& emulated_cuda() {
  static auto& device = *new EmulatedCuda;
  return device;
}

/// A copy of `x` in C order on another device of plain memory.
inline Array copy_to(Device& device, const Array& x) {
  const Array dense = x.contiguous();
  Array copy = Array::empty(x.shape(), x.dtype(), device);
  device.copy(copy.data(), dense.data(), static_cast<size_t>(dense.nbytes()));
  return copy;
}

/// Tests whose kernels run on the emulated device; the default device is the CPU meanwhile.
class EmulatedDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer knows nothing of the emulated threads' stacks";
#endif
    previous_ = set_default_device(&cpu());
  }
  void TearDown() override { set_default_device(previous_); }

 private:
  Device* previous_ = nullptr;
};

}  // namespace iruka::test
