// Kernels over blocks of threads on the CPU: threads as lanes, barriers, shared memory, shuffles and votes.
#include <array>
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
                "\n#include \"jit/kernels/cpu/blocks.h\"\n#line 1 \"code\"\n" + text +
                "\n#line 1 \"<wrapper>\"\nIRUKA_RUN_BLOCKS(" + kernel + ")\n";
  source.entry = "iruka_blocks";
  source.options = std::move(options);
  source.file_name = "<test>";
  source.runs_blocks = true;
  return source;
}

/// The parameters' bytes behind the grid, each at its alignment.
class Launch {
 public:
  Launch(Shape grid, unsigned dynamic_bytes) { push(grid.x), push(grid.y), push(grid.z), push(dynamic_bytes); }
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

TEST(BlockKernel, SharedVariablesOfEveryKind) {
  const std::string text = R"(
    __shared__ int of_namespace[4];
    __device__ int helper(int v) {
      __shared__ int of_helper;
      if (threadIdx.x == 0) of_helper = v;
      __syncthreads();
      return of_helper;
    }
    __global__ void kinds(int* out) {
      static __shared__ double of_static[2];
      __shared__ struct { char c; long l; } pair;
      __shared__ int count;
      if (threadIdx.x == 3) { of_namespace[1] = blockIdx.x; of_static[1] = 0.5 + blockIdx.x; pair.l = 7; count = 0; }
      __syncthreads();
      atomicAdd(&count, 1);
      __syncthreads();
      int& same = count;
      out[blockIdx.x * blockDim.x + threadIdx.x] =
          helper(100) + of_namespace[1] * 1000 + (int)(2 * of_static[1]) * 10000 + (int)pair.l * 1000000 + same;
    })";
  std::vector<int> out(3 * 40);
  run(text, "kinds", {3}, {40}, 0, out.data());
  for (int k = 0; k < 120; ++k)
    ASSERT_EQ(out[size_t(k)], 100 + k / 40 * 1000 + (1 + 2 * (k / 40)) * 10000 + 7000000 + 40) << k;
}

// As on a GPU, threads that have ended do not hold up the others, and a unit waits if any of its threads does.
TEST(BlockKernel, ThreadsMayEndBeforeABarrier) {
  const std::string text = R"(
    __global__ void early(int* out, int n) {
      __shared__ int seen[128];
      seen[threadIdx.x] = -1;
      __syncthreads();
      if (threadIdx.x >= n) return;
      seen[threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = seen[(threadIdx.x + 1) % 128];
    })";
  for (const int n : {1, 5, 64, 100, 128}) {
    std::vector<int> out(128, -2);
    run(text, "early", {1}, {128}, 0, out.data(), n);
    for (int k = 0; k < 128; ++k) {
      const int next = (k + 1) % 128;
      ASSERT_EQ(out[size_t(k)], k >= n ? -2 : next < n ? next : -1) << n << " " << k;
    }
  }
}

TEST(BlockKernel, LocalsAndLoopsLiveAcrossBarriers) {
  const std::string text = R"(
    __global__ void locals(const int* x, long* out) {
      __shared__ int buffer[96];
      int mine[5];
      for (int k = 0; k < 5; ++k) mine[k] = x[threadIdx.x] * k;
      double weight = threadIdx.x * 0.5;
      short small = threadIdx.x;
      for (int round = 0; round < 7; ++round) {
        buffer[threadIdx.x] = mine[round % 5];
        __syncthreads();
        mine[(round + 1) % 5] += buffer[95 - threadIdx.x];
        if (round % 2) { weight += buffer[(threadIdx.x + round) % 96]; __syncthreads(); }
        __syncthreads();
      }
      long total = small + (long)weight;
      for (int k = 0; k < 5; ++k) total = total * 3 + mine[k];
      out[threadIdx.x] = total;
    })";
  std::vector<int> x(96);
  for (size_t k = 0; k < 96; ++k) x[k] = int(k * 37 % 101);
  std::vector<long> out(96), expected(96);
  run(text, "locals", {1}, {96}, 0, x.data(), out.data());
  std::vector<std::array<int, 5>> mine(96);
  std::vector<double> weight(96);
  for (size_t t = 0; t < 96; ++t) {
    for (int k = 0; k < 5; ++k) mine[t][size_t(k)] = x[t] * k;
    weight[t] = double(t) * 0.5;
  }
  for (size_t round = 0; round < 7; ++round) {
    std::vector<int> buffer(96);
    for (size_t t = 0; t < 96; ++t) buffer[t] = mine[t][round % 5];
    for (size_t t = 0; t < 96; ++t) mine[t][(round + 1) % 5] += buffer[95 - t];
    for (size_t t = 0; t < 96; ++t)
      if (round % 2) weight[t] += buffer[(t + round) % 96];
  }
  for (size_t t = 0; t < 96; ++t) {
    long total = short(t) + long(weight[t]);
    for (size_t k = 0; k < 5; ++k) total = total * 3 + mine[t][k];
    EXPECT_EQ(out[t], total) << t;
  }
}

TEST(BlockKernel, ShufflesOfAllTypesAndWidths) {
  const std::string text = R"(
    struct Three { int a; short b; char c; };
    template <class T> __device__ long test(T x, int width) {
      long a = (long)__shfl_sync(0xffffffff, x, 5, width), b = (long)__shfl_up_sync(0xffffffff, x, 3, width);
      long c = (long)__shfl_down_sync(0xffffffff, x, 2, width), d = (long)__shfl_xor_sync(0xffffffff, x, 6, width);
      return a + 1000 * b + 1000000 * c + 1000000000 * d;
    }
    __global__ void all(long* out, int width) {
      int lane = threadIdx.x;
      Three three = __shfl_xor_sync(0xffffffff, Three{lane, (short)(lane + 1), (char)(lane + 2)}, 1);
      out[lane] = test((signed char)lane, width); out[32 + lane] = test((short)lane, width);
      out[64 + lane] = test((float)lane, width); out[96 + lane] = test((double)lane, width);
      out[128 + lane] = test((long long)lane, width);
      out[160 + lane] = three.a * 10000 + three.b * 100 + three.c;
    })";
  for (const int width : {2, 8, 16, 32}) {
    std::vector<long> out(192);
    run(text, "all", {1}, {32}, 0, out.data(), width);
    for (int lane = 0; lane < 32; ++lane) {
      const int first = lane / width * width, self = lane - first;
      const long up = self < 3 ? lane : lane - 3, down = self + 2 >= width ? lane : lane + 2;
      const long other = lane ^ 6, crossed = other > first + width - 1 ? lane : other;
      const long expected = (first + 5 % width) + 1000 * up + 1000000 * down + 1000000000 * crossed;
      for (size_t type = 0; type < 5; ++type)
        EXPECT_EQ(out[32 * type + size_t(lane)], expected) << type << " " << width;
      const long pair = lane ^ 1;
      EXPECT_EQ(out[size_t(160 + lane)], pair * 10000 + (pair + 1) * 100 + pair + 2);
    }
  }
}

TEST(BlockKernel, VotesUnderDivergenceCountActiveLanes) {
  const std::string text = R"(
    __global__ void votes(const int* x, unsigned* out) {
      int lane = threadIdx.x, v = x[lane];
      unsigned mask = 0;
      if (v % 3 == 0) mask = __activemask();
      else if (v % 3 == 1) mask = __ballot_sync(__activemask(), v > 10);
      out[lane] = mask;
      unsigned last = 0;
      for (int k = 0; k <= v % 5; ++k) last = __activemask();
      out[32 + lane] = last;
      out[64 + lane] = __match_any_sync(0xffffffff, v % 4);
      out[96 + lane] = __reduce_add_sync(0xffffffff, (unsigned)v);
      out[128 + lane] = __reduce_max_sync(0xffffffff, v);
    })";
  std::vector<int> x(32);
  std::mt19937 random(5);
  for (int& v : x) v = int(random() % 30);
  std::vector<unsigned> out(160);
  run(text, "votes", {1}, {32}, 0, x.data(), out.data());
  for (size_t lane = 0; lane < 32; ++lane) {
    unsigned zeros = 0, large = 0, alive = 0, equal = 0, sum = 0;
    int most = 0;
    for (size_t k = 0; k < 32; ++k) {
      zeros |= unsigned(x[k] % 3 == 0) << k;
      large |= unsigned(x[k] % 3 == 1 && x[k] > 10) << k;
      alive |= unsigned(x[k] % 5 >= x[lane] % 5) << k;
      equal |= unsigned(x[k] % 4 == x[lane] % 4) << k;
      sum += unsigned(x[k]);
      most = std::max(most, x[k]);
    }
    EXPECT_EQ(out[lane], x[lane] % 3 == 0 ? zeros : x[lane] % 3 == 1 ? large : 0) << lane;
    EXPECT_EQ(out[32 + lane], alive) << lane;
    EXPECT_EQ(out[64 + lane], equal) << lane;
    EXPECT_EQ(out[96 + lane], sum);
    EXPECT_EQ(out[128 + lane], unsigned(most));
  }
}

TEST(BlockKernel, CountsOfTheBlock) {
  const std::string text = R"(
    __global__ void counts(int* out) {
      int a = __syncthreads_count(threadIdx.x % 3 == 0), b = __syncthreads_and(threadIdx.x < 70);
      out[threadIdx.x] = a + 1000 * b + 10000 * __syncthreads_or(threadIdx.x == 69) + 100000 * __syncthreads_or(0);
    })";
  std::vector<int> out(70);
  run(text, "counts", {1}, {70}, 0, out.data());
  for (const int each : out) EXPECT_EQ(each, 24 + 1000 + 10000);
}

TEST(BlockKernel, CountsOfTheBlockWithoutItsFirstThread) {
  const std::string text = R"(
    __global__ void counts(int* out) {
      if (threadIdx.x == 0) return;
      for (int round = 0; round < 3; ++round) out[threadIdx.x] = __syncthreads_count(threadIdx.x % 2);
    })";
  std::vector<int> out(70, 35);
  run(text, "counts", {1}, {70}, 0, out.data());
  for (const int each : out) EXPECT_EQ(each, 35);
}

TEST(BlockKernel, WarpsAreInStepAfterSyncwarp) {
  const std::string exchange = R"(
    __global__ void exchange(int* out) {
      __shared__ int m[64];
      int t = threadIdx.x + blockDim.x * threadIdx.y;
      m[t] = t;
      __syncwarp();
      out[t] = m[t ^ 31];
    })";
  const std::string sum = R"(
    __global__ void sum(int* out) {
      __shared__ int s[256];
      int t = threadIdx.y * blockDim.x + threadIdx.x;
      s[t] = 1;
      __syncthreads();
      if (t < 128) s[t] += s[t + 128];
      __syncthreads();
      if (t < 64) s[t] += s[t + 64];
      __syncthreads();
      if (t < 32) {
        for (int d = 32; d; d /= 2) { int v = s[t + d]; __syncwarp(); s[t] += v; __syncwarp(); }
        if (t == 0) *out = s[0];
      }
    })";
  for (const Shape threads : {Shape{64}, Shape{8, 8}, Shape{16, 4}, Shape{4, 16}}) {
    std::vector<int> out(64);
    run(exchange, "exchange", {1}, threads, 0, out.data());
    for (int t = 0; t < 64; ++t) ASSERT_EQ(out[size_t(t)], t ^ 31) << threads.x;
  }
  for (const Shape threads : {Shape{256}, Shape{16, 16}, Shape{8, 32}}) {
    int out = 0;
    run(sum, "sum", {1}, threads, 0, &out);
    EXPECT_EQ(out, 256) << threads.x;
  }
}

// The last block to finish adds the sums of all, which needs a fence and an atomic counter.
TEST(BlockKernel, LastBlockReduction) {
  const std::string text = R"(
    __device__ unsigned finished = 0;
    __global__ void sum(const int* x, int* parts, int* out, int n) {
      __shared__ int part[64];
      __shared__ bool is_last;
      int i = blockIdx.x * 64 + threadIdx.x;
      part[threadIdx.x] = i < n ? x[i] : 0;
      __syncthreads();
      for (int s = 32; s; s >>= 1) { if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s]; __syncthreads(); }
      if (threadIdx.x == 0) {
        parts[blockIdx.x] = part[0];
        __threadfence();
        is_last = atomicAdd(&finished, 1u) == gridDim.x - 1;
      }
      __syncthreads();
      if (is_last && threadIdx.x == 0) {
        int total = 0;
        for (int k = 0; k < gridDim.x; ++k) total += parts[k];
        *out = total;
      }
    })";
  std::vector<int> x(1000), parts(16);
  std::iota(x.begin(), x.end(), 1);
  int out = 0;
  run(text, "sum", {16}, {64}, 0, x.data(), parts.data(), &out, 1000);
  EXPECT_EQ(out, 500500);
}

// A lock has no vector form: each thread is a unit of its own.
TEST(BlockKernel, ThreadsWithoutVectorFormWaitOneByOne) {
  const std::string text = R"(
    __global__ void locked(int* lock, int* out) {
      __shared__ int turn[33];
      turn[threadIdx.x] = threadIdx.x;
      __syncthreads();
      while (atomicCAS(lock, 0, 1) != 0) {}
      out[0] += turn[(threadIdx.x + 5) % 33];
      atomicExch(lock, 0);
      __syncthreads();
      out[1 + threadIdx.x] = out[0];
    })";
  int lock = 0;
  std::vector<int> out(34);
  EXPECT_EQ(run(text, "locked", {1}, {33}, 0, &lock, out.data()), 1);
  for (const int each : out) EXPECT_EQ(each, 33 * 32 / 2);
}

TEST(BlockKernel, ScalarThreadsGiveWhatLanesGive) {
  const std::string text = R"(
    __global__ void scan(const float* x, float* out) {
      __shared__ float a[2][200];
      int t = threadIdx.x, from = 0;
      a[0][t] = x[blockIdx.x * blockDim.x + t];
      __syncthreads();
      for (int d = 1; d < blockDim.x; d *= 2) {
        a[1 - from][t] = t >= d ? a[from][t] + a[from][t - d] : a[from][t];
        from = 1 - from;
        __syncthreads();
      }
      out[blockIdx.x * blockDim.x + t] = a[from][t];
    })";
  std::vector<float> x(600), lanes(600), scalar(600);
  for (size_t k = 0; k < 600; ++k) x[k] = float(k % 13) * 0.1f;
  run(text, "scan", {3}, {200}, 0, x.data(), lanes.data());
  const auto compiled = cpu_backend::compile(blocks(text, "scan", {200}, {"--lanes=1"}));
  ASSERT_TRUE(compiled.ok) << errors(compiled.diagnostics);
  const cpu_backend::LinkedObject object(compiled.code);
  EXPECT_EQ(object.lanes(), 1);
  Launch launch({3}, 0);
  launch.push(static_cast<const float*>(x.data()));
  launch.push(scalar.data());
  for (const auto& symbol : object.symbols())
    if (symbol.is_function && symbol.name == "iruka_blocks") symbol.function()(launch.data(), 0, 3);
  EXPECT_EQ(lanes, scalar);
}

TEST(BlockKernel, ProgramsShareVariables) {
  const std::string text = R"(
    __constant__ int scale = 2;
    __device__ int counter = 10;
    __device__ int bump() { static int calls = 0; return atomicAdd(&calls, 1); }
    __global__ void first(int* out) { out[0] = atomicAdd(&counter, scale); bump(); }
    __global__ void second(int* out) { out[0] = atomicAdd(&counter, scale) + 1000 * bump(); })";
  const auto compiled = [&](const std::string& kernel) {
    const auto program = cpu_backend::compile(blocks(text, kernel, {1}));
    EXPECT_TRUE(program.ok) << errors(program.diagnostics);
    return program.code;
  };
  const cpu_backend::LinkedObject first(compiled("first")), second(compiled("second"), &first);
  const auto symbol = [](const cpu_backend::LinkedObject& object, const std::string& name) {
    for (const auto& each : object.symbols())
      if (each.name == name) return each;
    ADD_FAILURE() << name;
    return object.symbols().front();
  };
  int out = 0;
  Launch launch({1}, 0);
  launch.push(&out);
  symbol(first, "iruka_blocks").function()(launch.data(), 0, 1);
  EXPECT_EQ(out, 10);
  *static_cast<int*>(symbol(first, "scale").address) = 5;
  symbol(second, "iruka_blocks").function()(launch.data(), 0, 1);
  EXPECT_EQ(out, 1012);
  EXPECT_EQ(*static_cast<int*>(symbol(first, "counter").address), 17);
}

/// The first error of a text that must not compile.
std::string error_of(const std::string& text, Shape threads = {64}) {
  const auto compiled = cpu_backend::compile(blocks(text, "kernel", threads));
  EXPECT_FALSE(compiled.ok);
  return errors(compiled.diagnostics);
}

TEST(BlockKernel, WhatCannotRunIsRefusedAtItsLine) {
  EXPECT_NE(error_of("__device__ int depth(int n) {\n  return n ? depth(n - 1) + threadIdx.x : 0;\n}\n"
                     "__global__ void kernel(int* out) { out[0] = depth(out[1]); }")
                .find("code:2:39: a function that is recursive or called through a pointer cannot use threadIdx"),
            std::string::npos);
  EXPECT_NE(error_of("__device__ void wait(int n) {\n  if (n) wait(n - 1);\n  __syncthreads();\n}\n"
                     "__global__ void kernel(int* out) { wait(out[1]); }")
                .find("cannot use __syncthreads()"),
            std::string::npos);
  EXPECT_NE(
      error_of("__shared__ int held[4];\n__device__ int walk(int n) {\n  return n ? walk(n - 1) + held[n % 4] : 0;\n}\n"
               "__global__ void kernel(int* out) { held[0] = out[0]; out[0] = walk(out[1]); }")
          .find("cannot use __shared__ variables"),
      std::string::npos);
  EXPECT_NE(error_of("__global__ void kernel(int* lock) { __shfl_sync(-1, lock[0], 3);\n"
                     "while (atomicCAS(lock, 0, 1)) {} }")
                .find("shuffles, votes and __syncwarp() need lanes"),
            std::string::npos);
  EXPECT_NE(error_of("__global__ void kernel(char* s, const char* f) {\n printf(f, 3); }").find("code:2:"),
            std::string::npos);
  EXPECT_NE(error_of("__global__ void kernel(int x) {\n printf(\"%s\", x); }").find("code:2:"), std::string::npos);
}

}  // namespace
}  // namespace iruka
