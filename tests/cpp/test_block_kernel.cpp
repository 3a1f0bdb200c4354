// Kernels over blocks of threads on the CPU: threads as lanes, barriers, shared memory, shuffles and votes.
#include <cstring>
#include <numeric>
#include <random>

#include "compile_text.h"

namespace iruka {
namespace {

using test::errors;

struct Shape {
  unsigned x = 1, y = 1, z = 1;
  unsigned count() const { return x * y * z; }
};

ProgramSource blocks(const std::string& text, const std::string& kernel, Shape threads,
                     std::vector<std::string> options = {}) {
  ProgramSource source;
  source.text = "#define IRUKA_BLOCK_X " + std::to_string(threads.x) + "\n#define IRUKA_BLOCK_Y " +
                std::to_string(threads.y) + "\n#define IRUKA_BLOCK_Z " + std::to_string(threads.z) +
                "\n#include \"jit/kernels/cpu/blocks.h\"\n#line 1 \"code\"\n" + text + "\n#line 1 \"<wrapper>\"\nIRUKA_RUN_BLOCKS(" +
                kernel + ")\n";
  source.entry = "iruka_blocks";
  source.options = std::move(options);
  source.file_name = "<test>";
  source.runs_blocks = true;
  return source;
}

/// The parameters' bytes behind the grid, each at its alignment.
class Launch {
 public:
  Launch(Shape grid, unsigned dynamic_bytes) {
    push(grid.x), push(grid.y), push(grid.z), push(dynamic_bytes);
  }
  template <class T>
  void push(T value) {
    const size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  const void* data() const { return bytes_.data(); }

 private:
  std::vector<unsigned char> bytes_;
};

template <class... P>
int run(const std::string& text, const std::string& kernel, Shape grid, Shape threads, unsigned dynamic_bytes,
        P... parameters) {
  const auto compiled = cpu_backend::compile(blocks(text, kernel, threads));
  EXPECT_TRUE(compiled.ok) << errors(compiled.diagnostics);
  if (!compiled.ok) return 0;
  const cpu_backend::LinkedObject object(compiled.code);
  Launch launch(grid, dynamic_bytes);
  (launch.push(parameters), ...);
  for (const auto& symbol : object.symbols())
    if (symbol.name == "iruka_blocks") symbol.function()(launch.data(), 0, grid.count());
  return object.lanes();
}

TEST(BlockKernel, ThreadsWithoutBarriersRunInLanes) {
  const std::string text = R"(
    __global__ void add(const float* x, const float* y, float* z, int n) {
      int i = blockDim.x * blockIdx.x + threadIdx.x;
      if (i < n) z[i] = x[i] + y[i];
    })";
  for (unsigned threads : {1u, 7u, 32u, 100u, 256u, 1024u}) {
    const int n = 1000;
    std::vector<float> x(n), y(n), z(n + 8, -1);
    std::iota(x.begin(), x.end(), 0.0f);
    std::iota(y.begin(), y.end(), 5.0f);
    run(text, "add", {(n + threads - 1) / threads}, {threads}, 0, x.data(), y.data(), z.data(), n);
    for (size_t k = 0; k < size_t{n}; ++k) ASSERT_EQ(z[k], x[k] + y[k]) << threads << " " << k;
    EXPECT_EQ(z[n], -1);
  }
}

TEST(BlockKernel, ThreadIndicesOfAllShapes) {
  const std::string text = R"(
    __global__ void where(int* out) {
      unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      int* to = out + 4 * (block * (blockDim.x * blockDim.y * blockDim.z) + thread);
      BARRIER
      to[0] = threadIdx.x; to[1] = threadIdx.y; to[2] = threadIdx.z; to[3] = block;
    })";
  for (const bool waits : {false, true}) {
    for (const Shape threads : {Shape{5, 3, 2}, Shape{16, 16, 1}, Shape{8, 4, 4}, Shape{48, 2, 1}, Shape{100, 1, 1},
                                Shape{1, 64, 1}, Shape{1, 1, 9}, Shape{33, 3, 3}}) {
      std::string with = text;
      with.replace(with.find("BARRIER"), 7, waits ? "__syncthreads();" : "");
      const Shape grid{3, 2, 2};
      std::vector<int> out(size_t{4} * grid.count() * threads.count(), -1);
      run(with, "where", grid, threads, 0, out.data());
      size_t at = 0;
      for (int block = 0; block < int(grid.count()); ++block)
        for (unsigned z = 0; z < threads.z; ++z)
          for (unsigned y = 0; y < threads.y; ++y)
            for (unsigned x = 0; x < threads.x; ++x, at += 4) {
              ASSERT_EQ(out[at], int(x)) << threads.x << " " << threads.y << " " << waits << " at " << at;
              ASSERT_EQ(out[at + 1], int(y));
              ASSERT_EQ(out[at + 2], int(z));
              ASSERT_EQ(out[at + 3], block);
            }
    }
  }
}

TEST(BlockKernel, ReductionInSharedMemory) {
  const std::string text = R"(
    template <class T> __global__ void sum(const T* x, T* out, int n) {
      __shared__ T part[blockDim.x];
      T total = 0;
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
      part[threadIdx.x] = total;
      __syncthreads();
      for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
      }
      if (threadIdx.x == 0) out[blockIdx.x] = part[0];
    })";
  for (unsigned threads : {1u, 2u, 8u, 64u, 256u, 1024u}) {
    const int n = 10007;
    std::vector<int> x(n), out(3);
    std::iota(x.begin(), x.end(), -50);
    run(text, "sum<int>", {3}, {threads}, 0, x.data(), out.data(), n);
    EXPECT_EQ(out[0] + out[1] + out[2], std::accumulate(x.begin(), x.end(), 0)) << threads;
  }
}

TEST(BlockKernel, WarpShufflesAndVotes) {
  const std::string text = R"(
    __global__ void warp(const int* x, int* out, unsigned* votes) {
      int v = x[threadIdx.x];
      for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
      int all = __shfl_sync(0xffffffff, v, 0);
      unsigned odd = __ballot_sync(0xffffffff, x[threadIdx.x] & 1);
      __shared__ int sums[32];
      if (threadIdx.x % 32 == 0) { sums[threadIdx.x / 32] = v; votes[threadIdx.x / 32] = odd; }
      __syncthreads();
      if (threadIdx.x < 32) {
        int w = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        for (int lanes = 1; lanes < 32; lanes *= 2) w += __shfl_xor_sync(0xffffffff, w, lanes);
        if (threadIdx.x == 0) out[0] = w;
      }
      out[1 + threadIdx.x] = all + __any_sync(0xffffffff, threadIdx.x == 37) + 2 * __all_sync(0xffffffff, v > -1000000);
    })";
  std::vector<int> x(256), out(257);
  std::vector<unsigned> votes(8);
  std::iota(x.begin(), x.end(), 3);
  run(text, "warp", {1}, {256}, 0, x.data(), out.data(), votes.data());
  EXPECT_EQ(out[0], std::accumulate(x.begin(), x.end(), 0));
  for (size_t k = 0; k < 256; ++k) {
    const size_t w = k / 32;
    EXPECT_EQ(out[1 + k], std::accumulate(x.begin() + 32 * w, x.begin() + 32 * (w + 1), 0) + (w == 1) + 2);
  }
  for (unsigned vote : votes) EXPECT_EQ(vote, 0x55555555u);
}

TEST(BlockKernel, DynamicSharedMemoryAndTiledProduct) {
  const std::string text = R"(
    __global__ void product(const float* a, const float* b, float* c, int n) {
      extern __shared__ float memory[];
      float (*as)[16] = (float (*)[16])memory, (*bs)[16] = (float (*)[16])(memory + 256);
      int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
      float total = 0;
      for (int tile = 0; tile < (n + 15) / 16; ++tile) {
        int k = tile * 16;
        as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < 16; ++j) total += as[threadIdx.y][j] * bs[j][threadIdx.x];
        __syncthreads();
      }
      if (row < n && column < n) c[row * n + column] = total;
    })";
  const int n = 75;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  std::mt19937 random(1);
  for (auto* matrix : {&a, &b})
    for (float& each : *matrix) each = float(int(random() % 17) - 8);
  run(text, "product", {5, 5}, {16, 16}, 2 * 256 * 4, a.data(), b.data(), c.data(), n);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float expected = 0;
      for (int k = 0; k < n; ++k) expected += a[size_t(row * n + k)] * b[size_t(k * n + column)];
      ASSERT_EQ(c[size_t(row * n + column)], expected);
    }
}

}  // namespace
}  // namespace iruka
