// CArray, CIndexer and atomics; and the articles' bodies, unchanged, with the parameters of a call.
#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "prelude_kernel.h"

namespace iruka::test {
namespace {

TEST(CArray, ElementKIsInCOrderWhateverTheStrides) {
  // (3, 4, 5) seen from a (5, 3, 4) buffer, the last axis backwards.
  std::vector<float> buffer(60);
  std::iota(buffer.begin(), buffer.end(), 0.0f);
  std::vector<float> got(4 * 60);
  run_body("", {"float* data", "float* z"}, R"(
    CArray<float, 3> a{data + 4 * 12, 60, {3, 4, 5}, {16, 4, -48}, false};
    const CArray<float, 3>& b = a;
    int y = i / 20, x = i / 5 % 4; int16_t c = i % 5; uint64_t k = i;
    int idx[] = {y, x, c}; ptrdiff_t far[3] = {y, x, c}; const ptrdiff_t* pointer = far;
    z[4*i] = a[k]; z[4*i+1] = a[{y, x, c}]; z[4*i+2] = b[idx]; z[4*i+3] = b[pointer] + 0 * a[far];)",
           {buffer.data(), got.data()}, 60);
  for (int i = 0; i < 60; ++i) {
    const float want = buffer[(4 - i % 5) * 12 + i / 20 * 4 + i / 5 % 4];
    for (int m = 0; m < 4; ++m) ASSERT_EQ(got[4 * i + m], want) << i << " way " << m;
  }
}

TEST(CArray, EveryIndexTypeAndRank) {
  const std::string preamble = R"(
enum Axis { kFirst, kSecond };
static_assert(sizeof(CArray<float, 2>) == 56 && __is_standard_layout(CArray<float, 2>) &&
__is_trivially_copyable(CArray<float, 2>));
static_assert(CArray<double, 3>::ndim == 3 && CIndexer<2>::ndim == 2);
__device__ float by_reference(CArray<float, 2>& a) { return a[5]; }
__device__ float by_const_reference(const CArray<float,
2>& a) { return a[5] + a.size() * a.shape()[1] + a.strides()[0]; }
)";
  std::vector<float> data = {0, 1, 2, 3, 4, 5};
  float z[12] = {};
  run_body(preamble, {"float* data", "float* z"}, R"(
    CArray<float, 2> a{data, 6, {2, 3}, {12, 4}, true}; CArray<float, 0> s{data + 4, 1, {}, {}, true};
    CArray<float, 1> v{data, 3, {3}, {8}, false};
    long long k = 5; int8_t small = 4; bool one = true; size_t wide = 2;
    z[0] = a[k]; z[1] = a[small]; z[2] = a[one]; z[3] = a[kSecond]; z[4] = a[{one, wide}]; z[5] = s[0]; z[6] = v[2];
    z[7] = v[{wide}];
    z[8] = by_reference(a); z[9] = by_const_reference(a); z[10] = a[(unsigned)3]; int at[] = {i + 1};
    z[11] = v[at];)",
           {data.data(), z}, 1);
  const float want[12] = {5, 4, 1, 1, 5, 4, 4, 4, 5, 5 + 18 + 12, 3, 2};
  for (int k = 0; k < 12; ++k) EXPECT_EQ(z[k], want[k]) << k;
}

TEST(CArray, WritesGoThrough) {
  std::vector<int16_t> data(12, 0);
  run_body("", {"int16_t* data"}, R"(
    CArray<int16_t, 2> a{data, 12, {3, 4}, {2, 6}, false};
    int y = i / 4, x = i % 4; if (i % 2) a[i] = i; else a[{y, x}] += i;)",
           {data.data()}, 12);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(data[i % 4 * 3 + i / 4], i);
}

TEST(CIndexer, GivesTheMultiIndexInCOrder) {
  std::vector<int64_t> z(24 * 4);
  run_body("", {"int64_t* z"}, R"(
    CIndexer<3> _ind{24, {2, 3, 4}}; _ind.set(i);
    for (int axis = 0; axis < 3; ++axis) z[4*i+axis] = _ind.get()[axis];
    z[4*i+3] = _ind.size() + _ind.shape()[2];)",
           {z.data()}, 24);
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(z[4 * i], i / 12);
    EXPECT_EQ(z[4 * i + 1], i / 4 % 3);
    EXPECT_EQ(z[4 * i + 2], i % 4);
    EXPECT_EQ(z[4 * i + 3], 28);
  }
}

TEST(CIndexer, IndexesArrays) {
  std::vector<float> data(12), z(12);
  std::iota(data.begin(), data.end(), 0.0f);
  run_body("", {"float* data", "float* z"}, R"(
    CArray<float, 2> a{data, 12, {3, 4}, {4, 12}, false}; CIndexer<2> _ind{12, {3, 4}}; _ind.set(i);
    z[i] = a[_ind.get()];)",
           {data.data(), z.data()}, 12);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(z[i], i % 4 * 3 + i / 4);
}

TEST(CIndexer, CostsNothingUnused) {
  const std::string head =
      "extern \"C\" void iruka_entry(const unsigned char* arguments, ptrdiff_t begin, ptrdiff_t end) {\n"
      "  float* z = *(float* const*)arguments; ptrdiff_t rows = ((const ptrdiff_t*)arguments)[1];\n";
  const std::string loop = "  for (ptrdiff_t i = begin; i < end; ++i) {\n";
  const std::string with =
      head + "  CIndexer<2> _ind{rows * 7, {rows, 7}};\n" + loop + "    _ind.set(i); z[i] = i;\n  }\n}\n";
  const std::string without = head + loop + "    z[i] = i;\n  }\n}\n";
  EXPECT_EQ(cpu_backend::assembly({with, "iruka_entry", {}, "<test>"}),
            cpu_backend::assembly({without, "iruka_entry", {}, "<test>"}));
}

/// Runs `body` 4 x 5000 times in four threads at once; `z` is what it works on.
void run_in_threads(const std::string& declaration, const std::string& body, void* z) {
  const auto linked = build_text(
      "extern \"C\" void iruka_entry(const unsigned char* arguments, "
      "ptrdiff_t begin, ptrdiff_t end) {\n  " +
      declaration + " = *(" + declaration.substr(0, declaration.rfind('*') + 1) + " const*)arguments;\n" +
      "  for (ptrdiff_t i = begin; i < end; ++i) {\n" + body + "\n  }\n}\n");
  ASSERT_TRUE(linked);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] { linked->symbols().front().function()(&z, t * 5000, (t + 1) * 5000); });
  for (auto& thread : threads) thread.join();
}

template <class T>
void check_integer_atomics(const char* c_type) {
  T z[9] = {0, 20000, std::numeric_limits<T>::max(), 0, 0, 0, 0, static_cast<T>(~T(0)), 0};
  run_in_threads(std::string(c_type) + "* z", R"(
    atomicAdd(&z[0], 1); atomicSub(&z[1], 1); atomicMin(&z[2], i + 3); atomicMax(&z[3], i); atomicInc(&z[4], 9);
    atomicDec(&z[5], 9);
    atomicOr(&z[6], 1 << i % 6); atomicAnd(&z[7], ~(1 << i % 6)); atomicXor(&z[8], i);)",
                 z);
  T exclusive = 0;
  for (int i = 0; i < 20000; ++i) exclusive = static_cast<T>(exclusive ^ i);
  const T want[9] = {20000, 0, 3, 19999, 0, 0, 63, static_cast<T>(~T(63)), exclusive};
  for (int k = 0; k < 9; ++k) EXPECT_EQ(z[k], want[k]) << c_type << " " << k;
}
TEST(Atomics, IntegersOfEveryKind) {
  check_integer_atomics<int>("int");
  check_integer_atomics<unsigned>("unsigned");
  check_integer_atomics<long>("long");
  check_integer_atomics<unsigned long>("unsigned long");
  check_integer_atomics<long long>("long long");
  check_integer_atomics<unsigned long long>("unsigned long long");
}

TEST(Atomics, FloatingTypesAdd) {
  float f[3] = {0, 1e9f, -1e9f};
  run_in_threads("float* z", "atomicAdd(&z[0], 1); atomicMin(&z[1], i); atomicMax(&z[2], (double)i);", f);
  EXPECT_EQ(f[0], 20000);
  EXPECT_EQ(f[1], 0);
  EXPECT_EQ(f[2], 19999);
  double d[1] = {0};
  run_in_threads("double* z", "atomicAdd(z, 0.5f);", d);
  EXPECT_EQ(d[0], 10000);
  uint16_t h[2] = {0, 0x7bff};
  run_in_threads("float16* z", "if (i % 10 == 0) atomicAdd(&z[0], 1); atomicMin(&z[1], (int)i);", h);
  EXPECT_EQ(h[0], reference_narrow(2000, 5));
  EXPECT_EQ(h[1], 0);
  uint16_t b[1] = {0};
  run_in_threads("bfloat16* z", "if (i % 100 == 0) atomicAdd(z, 1.0f);", b);
  EXPECT_EQ(b[0], reference_narrow(200, 8));
  float c[2] = {0, 0};
  run_in_threads("complex<float>* z", "atomicAdd(z, complex<float>(1, 2)); atomicSub(z, 0.5f);", c);
  EXPECT_EQ(c[0], 10000);
  EXPECT_EQ(c[1], 40000);
}

TEST(Atomics, ReturnTheOldValue) {
  int z[8] = {5, 5, 5, 5, 5, 0, 5, 5};
  run_body("", {"int* z"}, R"(
    z[5] = atomicAdd(&z[0], 2) * 1000000 + atomicSub(&z[1], 2) * 100000 + atomicExch(&z[2],
    9) * 10000 + atomicCAS(&z[3], 5, 8) * 1000 +
           atomicCAS(&z[4], 6, 8) * 100 + atomicMax(&z[6], 7) * 10 + atomicInc(&z[7], 5);)",
           {z}, 1);
  EXPECT_EQ(z[5], 5555555);
  const int want[8] = {7, 3, 9, 8, 5, 5555555, 7, 0};
  for (int k = 0; k < 8; ++k) EXPECT_EQ(z[k], want[k]) << k;
}

// The articles' kernels. The code around a body is what the emitter would write for its parameters.

const char* const kIndexPreamble = R"(
        __device__ int get_x_idx(int i, int width) {
            return i%width;
        }
        __device__ int get_y_idx(int i, int width) {
            return i/width;
        }
)";

TEST(Articles, RollReadsTheNextElement) {
  std::vector<int16_t> x(15), z(15);
  std::iota(x.begin(), x.end(), int16_t{3});
  run_body("", {"int16_t* x_data", "int16_t* z_data"}, R"(
    CArray<int16_t, 1> x{x_data, 15, {15}, {2}, true}; CIndexer<1> _ind{15, {15}}; _ind.set(i);
    int16_t& z = z_data[i];
        int idx = (i + 1) % _ind.size();
        z = x[idx];
)",
           {x.data(), z.data()}, 15);
  for (int k = 0; k < 15; ++k) EXPECT_EQ(z[k], x[(k + 1) % 15]);
}

TEST(Articles, ThreeChannels) {
  std::vector<int16_t> storage(27), z(18);
  std::iota(storage.begin(), storage.end(), int16_t{0});
  run_body("", {"int16_t* x_data", "int16_t* z_data"}, R"(
    CArray<int16_t, 3> x{x_data, 27, {3, 3, 3}, {6, 2, 18}, false};
    CArray<int16_t, 3> z{z_data, 18, {3, 3, 2}, {12, 4, 2}, true};
    const int16_t width = 3, height = 3;
        int x_idx = i%width;
        int y_idx = i/width;
        z[i*2] = x[i*3] + x[i*3+1];
        z[i*2+1] = x[i*3+1] + x[i*3+2];
)",
           {storage.data(), z.data()}, 9);
  for (int k = 0; k < 9; ++k) {
    EXPECT_EQ(z[2 * k], k + k + 9);
    EXPECT_EQ(z[2 * k + 1], k + 9 + k + 18);
  }
}

TEST(Articles, LocalMean) {
  const std::string preamble = std::string(kIndexPreamble) + R"(
        __device__ float calc_local_mean(int x_idx, int y_idx,
                                         int width, int height,
                                         CArray<float, 2> &input) {
            float mean = 0;
            int count = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    int x = x_idx + dx;
                    int y = y_idx + dy;
                    if (x < 0 || x >= width || y < 0 || y >= height) continue;
                    int idx[] = {y, x};
                    mean += input[idx];
                    count += 1;
                }
            }
            return mean / count;
        }
)";
  const int height = 13, width = 17;
  std::mt19937 random(1);
  std::vector<float> x(height * width), z(height * width);
  for (float& value : x) value = static_cast<float>(random() % 1000) / 8;
  run_body(preamble, {"float* input_data", "float* output_data"}, R"(
    CArray<float, 2> input{input_data, 13 * 17, {13, 17}, {68, 4}, true}; const int16_t width = 17, height = 13;
    float& output = output_data[i];
        int x_idx = get_x_idx(i, width);
        int y_idx = get_y_idx(i, width);
        output = calc_local_mean(x_idx, y_idx, width, height, input);
)",
           {x.data(), z.data()}, height * width);
  for (int r = 0; r < height; ++r) {
    for (int c = 0; c < width; ++c) {
      double sum = 0;
      int count = 0;
      for (int k = 0; k < 9; ++k) {
        const int y = r + k / 3 - 1, at = c + k % 3 - 1;
        if (y >= 0 && y < height && at >= 0 && at < width) sum += x[y * width + at], ++count;
      }
      EXPECT_NEAR(z[r * width + c], sum / count, 1e-4);
    }
  }
}

TEST(Articles, LinearLayer) {
  const int count = 40, in = 5, out = 8;
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> x(count * in), weight(out * in), bias(out), z(count * out);
  for (auto* values : {&x, &weight, &bias}) {
    for (float& value : *values) value = normal(random);
  }
  run_body("", {"float* x", "float* w", "float* b", "float* z"}, R"(
    CArray<float, 2> input_matrix{x, 200, {40, 5}, {20, 4}, true}, weight{w, 40, {8, 5}, {20, 4}, true},
    output_matrix{z, 320, {40, 8}, {32, 4}, true};
    CArray<float, 1> bias{b, 8, {8}, {4}, true}; const int16_t n_of_current_layer = 5, n_of_next_layer = 8;
    float elementwise_product;
    for (int r = 0; r < n_of_next_layer; r++){
        elementwise_product = 0;
        for (int c = 0; c < n_of_current_layer; c++){
            elementwise_product += weight[r * n_of_current_layer + c] * input_matrix[i * n_of_current_layer + c];
        }
        output_matrix[i * n_of_next_layer + r] = elementwise_product + bias[r];
    }
)",
           {x.data(), weight.data(), bias.data(), z.data()}, count);
  for (int k = 0; k < count * out; ++k) {
    double want = bias[k % out];
    for (int c = 0; c < in; ++c) want += static_cast<double>(weight[k % out * in + c]) * x[k / out * in + c];
    EXPECT_NEAR(z[k], want, 1e-5);
  }
}

const char* const kPatchPreamble = R"(
        __device__ float inter_patch_MSE(int widthA, int heightA,
                                         int widthB, int heightB,
                                         int x_A, int y_A,
                                         int x_B, int y_B,
                                         CArray<float, 3> &imgA,
                                         CArray<float, 3> &imgB, int pr) {
            int ix_A;
            int iy_A;
            int ix_B;
            int iy_B;
            int i_A;
            int i_B;
            float MSE = 0;
            for (int dy = pr*(-1); dy <= pr; dy++){
                for (int dx = pr*(-1); dx <= pr; dx++){
                    ix_A = x_A + dx;
                    iy_A = y_A + dy;
                    ix_B = x_B + dx;
                    iy_B = y_B + dy;
                    ix_A = max(0, min(widthA - 1, ix_A));
                    iy_A = max(0, min(heightA - 1, iy_A));
                    ix_B = max(0, min(widthB - 1, ix_B));
                    iy_B = max(0, min(heightB - 1, iy_B));

                    i_A = ix_A + widthA * iy_A;
                    i_B = ix_B + widthB * iy_B;

                    MSE += powf(imgA[i_A*3] - imgB[i_B*3], 2);
                    MSE += powf(imgA[i_A*3+1] - imgB[i_B*3+1], 2);
                    MSE += powf(imgA[i_A*3+2] - imgB[i_B*3+2], 2);
                }
            }
            MSE = MSE / ((pr*2+1) * 3);
            return MSE;
        }
)";

const char* const kPatchBody = R"(
    CArray<float, 3> imgA{a, 9*11*3, {9, 11, 3}, {132, 12, 4}, true}, imgB{b, 8*10*3, {8, 10, 3}, {120, 12, 4}, true};
    CArray<uint16_t, 3> nnf{z, 9*11*2, {9, 11, 2}, {44, 4, 2}, true};
    const uint16_t widthA = 11, heightA = 9, widthB = 10, heightB = 8, pr = 1;
        int x_A = get_x_idx(i, widthA);
        int y_A = get_y_idx(i, widthA);

        float min_MSE = 1e6;
        float MSE;
        int nnp[2];
        for (int y_B = 0; y_B < heightB; y_B++) {
            for (int x_B = 0; x_B < widthB; x_B++) {
                MSE = inter_patch_MSE(widthA, heightA,
                                      widthB, heightB,
                                      x_A, y_A, x_B, y_B,
                                      imgA, imgB, pr);
                if (MSE < min_MSE) {
                    min_MSE = MSE;
                    nnp[0] = x_B;
                    nnp[1] = y_B;
                }
            }
        }
        nnf[i*2] = nnp[0];
        nnf[i*2+1] = nnp[1];
)";

TEST(Articles, PatchMatchFindsTheNearestPatch) {
  const int ha = 9, wa = 11, hb = 8, wb = 10;
  std::mt19937 random(4);
  std::vector<float> a(ha * wa * 3), b(hb * wb * 3);
  for (auto* image : {&a, &b}) {
    for (float& value : *image) value = static_cast<float>(random() % 256);
  }
  std::vector<uint16_t> z(ha * wa * 2);
  run_body(std::string(kIndexPreamble) + kPatchPreamble, {"float* a", "float* b", "uint16_t* z"}, kPatchBody,
           {a.data(), b.data(), z.data()}, ha * wa);
  const auto pixel = [](const std::vector<float>& image, int h, int w, int y, int x, int c) {
    return static_cast<int>(image[(std::clamp(y, 0, h - 1) * w + std::clamp(x, 0, w - 1)) * 3 + c]);
  };
  for (int k = 0; k < ha * wa; ++k) {
    long best = -1;
    int best_at = 0;
    for (int at = 0; at < hb * wb; ++at) {
      long sum = 0;
      for (int d = 0; d < 27; ++d) {
        const int dy = d / 9 - 1, dx = d / 3 % 3 - 1, c = d % 3;
        const long difference =
            pixel(a, ha, wa, k / wa + dy, k % wa + dx, c) - pixel(b, hb, wb, at / wb + dy, at % wb + dx, c);
        sum += difference * difference;
      }
      if (best < 0 || sum < best) best = sum, best_at = at;
    }
    EXPECT_EQ(z[2 * k], best_at % wb);
    EXPECT_EQ(z[2 * k + 1], best_at / wb);
  }
}

}  // namespace
}  // namespace iruka::test
