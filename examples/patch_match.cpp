// Exact nearest-neighbour field between two pictures, and one rebuilt from the patches of the other, as patch_match.py
// does it.
//
//   patch_match A B OUT [--patch-size 3] [--gray] [--check]
//
// --check compares the field with a plain C++ loop over the same patches.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "iruka/iruka.h"

namespace {

using iruka::Array;
using iruka::Dtype;
using iruka::Slice;

/// Element i is pixel i of A. Both pictures have a border, so that no patch leaves them; a patch's rows are runs of
/// `patch_size * channels` numbers. After each row, a patch that is already farther than the nearest so far is skipped.
const iruka::ElementwiseKernel& nnf_kernel() {
  static const iruka::ElementwiseKernel kernel(
      "raw float32 imgA, raw float32 imgB, int32 widthA, int32 widthB, int32 heightB, int32 channels, int32 patch_size",
      "raw int32 nnf",
      R"(
      int strideA = (widthA + patch_size - 1) * channels;
      int strideB = (widthB + patch_size - 1) * channels;
      int xA = i % widthA;
      int yA = i / widthA;
      const float* a = &imgA[yA * strideA + xA * channels];
      int nearest_x = 0, nearest_y = 0;
      float least = 3.4e38f;
      for (int yB = 0; yB < heightB; yB++) {
          for (int xB = 0; xB < widthB; xB++) {
              const float* b = &imgB[yB * strideB + xB * channels];
              float distance = patch_distance(a, b, strideA, strideB, patch_size * channels, patch_size, least);
              if (distance < least) {
                  least = distance;
                  nearest_x = xB;
                  nearest_y = yB;
              }
          }
      }
      nnf[i * 2] = nearest_x;
      nnf[i * 2 + 1] = nearest_y;
      )",
      "nnf_kernel", {.preamble = R"(
      __device__ float patch_distance(const float* a, const float* b, int strideA, int strideB, int row, int rows,
                                      float least) {
          float distance = 0;
          for (int y = 0; y < rows && distance < least; y++) {
              for (int k = 0; k < row; k++) {
                  float difference = a[k] - b[k];
                  distance += difference * difference;
              }
              a += strideA;
              b += strideB;
          }
          return distance;
      }
      )"});
  return kernel;
}

/// float32 (height + 2r, width + 2r, channels) of a uint8 picture, the edge repeated.
Array with_border(const Array& picture, int64_t radius) {
  int64_t height = picture.shape(0), width = picture.shape(1), channels = picture.ndim() == 3 ? picture.shape(2) : 1;
  Array bordered = Array::empty({height + 2 * radius, width + 2 * radius, channels}, Dtype::float32);
  auto* from = static_cast<const uint8_t*>(picture.data());
  auto* to = static_cast<float*>(bordered.data());
  for (int64_t y = -radius; y < height + radius; ++y) {
    for (int64_t x = -radius; x < width + radius; ++x) {
      int64_t pixel = std::clamp<int64_t>(y, 0, height - 1) * width + std::clamp<int64_t>(x, 0, width - 1);
      for (int64_t c = 0; c < channels; ++c) *to++ = from[pixel * channels + c];
    }
  }
  return bordered;
}

class ExactPatchMatch {
 public:
  /// The pictures are uint8 (height, width) or (height, width, channels), C-contiguous.
  ExactPatchMatch(int64_t patch_size, const Array& a, const Array& b) : size_(patch_size), shape_a_(a.shape()) {
    if (patch_size < 1 || patch_size % 2 == 0) {
      throw iruka::ValueError("ExactPatchMatch: patch_size must be odd and positive, not " +
                              std::to_string(patch_size));
    }
    width_b_ = b.shape(1);
    height_b_ = b.shape(0);
    bordered_a_ = with_border(a, patch_size / 2);
    bordered_b_ = with_border(b, patch_size / 2);
    channels_ = bordered_a_.shape(2);
    if (bordered_b_.shape(2) != channels_) {
      throw iruka::ShapeError("ExactPatchMatch: channels differ: " + iruka::to_string(a.shape()) + " and " +
                              iruka::to_string(b.shape()));
    }
  }

  /// int32 (height, width, 2): x and y in B of the nearest patch.
  const Array& get_nnf() {
    int64_t height = shape_a_[0], width = shape_a_[1];
    nnf_ = iruka::zeros({height, width, 2}, Dtype::int32);
    const iruka::Argument arguments[] = {bordered_a_, bordered_b_, width, width_b_, height_b_, channels_, size_, nnf_};
    nnf_kernel().call(arguments, {.size = height * width});
    return nnf_;
  }

  /// How many pixels of the field a plain loop finds too.
  int64_t count_agreeing() const {
    const auto* field = static_cast<const int32_t*>(nnf_.data());
    int64_t agreeing = 0;
    for (int64_t y = 0; y < shape_a_[0]; ++y) {
      for (int64_t x = 0; x < shape_a_[1]; ++x, field += 2) {
        float least = std::numeric_limits<float>::infinity();
        int64_t nearest_x = 0, nearest_y = 0;
        for (int64_t v = 0; v < height_b_; ++v) {
          for (int64_t u = 0; u < width_b_; ++u) {
            float distance = patch_distance(x, y, u, v);
            if (distance < least) least = distance, nearest_x = u, nearest_y = v;
          }
        }
        agreeing += field[0] == nearest_x && field[1] == nearest_y;
      }
    }
    return agreeing;
  }

  /// A from patches of B: the nearest patches are laid over one another and averaged.
  Array reconstruct() const {
    const int64_t radius = size_ / 2, height = shape_a_[0], width = shape_a_[1];
    const auto* field = static_cast<const int32_t*>(nnf_.data());
    std::vector<double> total(static_cast<size_t>(bordered_a_.size()));
    std::vector<int> count(static_cast<size_t>(bordered_a_.shape(0) * bordered_a_.shape(1)));
    const int64_t stride = bordered_a_.shape(1);
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x, field += 2) {
        for (int64_t dy = 0; dy < size_; ++dy) {
          for (int64_t dx = 0; dx < size_; ++dx) {
            int64_t pixel = (y + dy) * stride + x + dx;
            ++count[static_cast<size_t>(pixel)];
            const float* from = at(bordered_b_, field[0] + dx, field[1] + dy);
            for (int64_t c = 0; c < channels_; ++c) total[static_cast<size_t>(pixel * channels_ + c)] += from[c];
          }
        }
      }
    }
    Array picture = Array::empty(shape_a_, Dtype::uint8);
    auto* to = static_cast<uint8_t*>(picture.data());
    for (int64_t y = radius; y < radius + height; ++y) {
      for (int64_t x = radius; x < radius + width; ++x) {
        for (int64_t c = 0; c < channels_; ++c) {
          size_t pixel = static_cast<size_t>(y * stride + x);
          double mean = total[pixel * static_cast<size_t>(channels_) + static_cast<size_t>(c)] / count[pixel];
          *to++ = static_cast<uint8_t>(std::lround(mean));
        }
      }
    }
    return picture;
  }

 private:
  const float* at(const Array& bordered, int64_t x, int64_t y) const {
    return static_cast<const float*>(bordered.data()) + (y * bordered.shape(1) + x) * channels_;
  }

  float patch_distance(int64_t xa, int64_t ya, int64_t xb, int64_t yb) const {
    float distance = 0;
    for (int64_t dy = 0; dy < size_; ++dy) {
      const float *a = at(bordered_a_, xa, ya + dy), *b = at(bordered_b_, xb, yb + dy);
      for (int64_t k = 0; k < size_ * channels_; ++k) distance += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return distance;
  }

  int64_t size_, channels_ = 1, width_b_ = 0, height_b_ = 0;
  iruka::Dims shape_a_;
  Array bordered_a_, bordered_b_, nnf_;
};

struct CommandLine {
  std::vector<std::string> files;
  int64_t patch_size = 3;
  bool gray = false, check = false;
};

CommandLine parse(int count, char** texts) {
  CommandLine line;
  for (int k = 1; k < count; ++k) {
    std::string text = texts[k];
    if (text == "--gray")
      line.gray = true;
    else if (text == "--check")
      line.check = true;
    else if (text == "--patch-size" && k + 1 < count)
      line.patch_size = std::atoll(texts[++k]);
    else
      line.files.push_back(text);
  }
  return line;
}

int run(const CommandLine& line) {
  const iruka::image::DecodeOptions options{.mode = line.gray ? iruka::image::ColorMode::gray
                                                              : iruka::image::ColorMode::rgb};
  Array a = iruka::image::imread(line.files[0], options), b = iruka::image::imread(line.files[1], options);
  ExactPatchMatch match(line.patch_size, a, b);
  auto start = std::chrono::steady_clock::now();
  match.get_nnf();
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("elapsed time [s] : %.3f\n", elapsed.count());
  iruka::image::imwrite(line.files[2], match.reconstruct());
  if (!line.check) return 0;
  int64_t pixels = a.shape(0) * a.shape(1), agreeing = match.count_agreeing();
  std::printf("pixels that agree with the plain loop : %lld of %lld\n", static_cast<long long>(agreeing),
              static_cast<long long>(pixels));
  return agreeing == pixels ? 0 : 1;
}

}  // namespace

int main(int count, char** texts) {
  CommandLine line = parse(count, texts);
  if (line.files.size() != 3) {
    std::fprintf(stderr, "usage: patch_match A B OUT [--patch-size N] [--gray] [--check]\n");
    return 2;
  }
  try {
    return run(line);
  } catch (const iruka::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
