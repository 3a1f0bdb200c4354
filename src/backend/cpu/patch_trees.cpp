// Approximate nearest patches of bytes by trees and propagation (He and Sun, "Computing Nearest-Neighbor Fields via
// Propagation-Assisted KD-Trees", CVPR 2012; Olonetsky and Avidan, "TreeCANN", ECCV 2012).
//
// Trees divide the patches of the second picture by their products with patterns, into leaves of a hundred patches or
// so. A pixel of the first picture is compared with all patches of the leaf to which its own patch belongs, and then,
// in each iteration, with those of the leaf of the patch beside a neighbour's nearest one. All pixels that a leaf has
// are compared with it at once, so that its patches stay in the nearest cache. Integers are exact and a pass reads what
// the one before has written, so that the field depends on no order of threads.
#include "backend/cpu/patch_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/patch_job.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kTrees = 2;
/// Patches of the sample for each leaf.
constexpr int64_t kSampled = 16;
/// Of kMostItems patches each, with which a leaf's pixels are compared.
constexpr int64_t kMostParts = 8;
constexpr int32_t kNoLeaf = -1;

/// A picture with its border.
struct BorderedPicture {
  int64_t height, width;  ///< in patches
  std::vector<uint8_t> data;
  PatchRows rows;
};

BorderedPicture with_border(const PatchMatching& job, const PatchMatching::Picture& picture) {
  const int64_t rows = picture.height + job.patch - 1, columns = picture.width + job.patch - 1, c = job.channels;
  // Signed numbers become unsigned ones, as distances do not change.
  const uint8_t flip = job.dtype == Dtype::int8 ? 128 : 0;
  const auto size = static_cast<size_t>(rows * columns * c + PatchSweep::kRoom);
  BorderedPicture made{picture.height, picture.width, std::vector<uint8_t>(size, flip), {}};
  const auto* const from = static_cast<const uint8_t*>(picture.data);
  parallel_for(rows, std::max<int64_t>(1, (1 << 16) / (columns * c)), [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      const int64_t row = place_within(static_cast<int>(job.border), y - job.patch / 2, picture.height);
      uint8_t* const to = made.data.data() + y * columns * c;
      const auto copy = [&](int64_t x, int64_t column, int64_t count) {
        if (row < 0 || column < 0) return;
        const uint8_t* const pixels = from + (row * picture.width + column) * c;
        std::transform(pixels, pixels + count * c, to + x * c,
                       [&](uint8_t v) { return static_cast<uint8_t>(v ^ flip); });
      };
      const int64_t before = job.patch / 2;
      copy(before, 0, picture.width);
      for (int64_t x = 0; x < columns; ++x) {
        if (x == before) x += picture.width;
        if (x < columns) copy(x, place_within(static_cast<int>(job.border), x - before, picture.width), 1);
      }
    }
  });
  made.rows = {made.data.data(), columns * c, job.patch, job.patch * c, c};
  return made;
}

/// The value of a polynomial of degree 0, 1 or 2 at place `at` of `size`, up to 1 in size.
double polynomial(int64_t degree, int64_t at, int64_t size) {
  const double x = size > 1 ? static_cast<double>(2 * at - size + 1) / static_cast<double>(size - 1) : 0;
  return degree == 0 ? 1 : degree == 1 ? x : 2 * x * x - 1;
}

/// Products of polynomials over rows, columns and channels, as signed bytes of the same norm.
class Patterns {
 public:
  Patterns(int64_t patch, int64_t channels) : size_(patch * patch * channels) {
    const int64_t most = std::min<int64_t>(patch, 3), most_channels = std::min<int64_t>(channels, 3);
    std::vector<std::vector<double>> values;
    double scale = std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < most_channels; ++c)
      for (int64_t v = 0; v < most; ++v)
        for (int64_t u = 0; u < most; ++u) {
          std::vector<double> pattern;
          double squares = 0, largest = 0;
          for (int64_t y = 0; y < patch; ++y)
            for (int64_t x = 0; x < patch; ++x)
              for (int64_t channel = 0; channel < channels; ++channel) {
                const double value =
                    polynomial(v, y, patch) * polynomial(u, x, patch) * polynomial(c, channel, channels);
                pattern.push_back(value);
                squares += value * value;
                largest = std::max(largest, std::abs(value));
              }
          if (largest == 0) continue;
          constexpr double kMost = 127;
          const double norm = std::sqrt(squares);
          scale = std::min(scale, kMost * norm / largest);
          for (double& value : pattern) value /= norm;
          values.push_back(std::move(pattern));
        }
    for (const auto& pattern : values) {
      auto& bytes = patterns_.emplace_back();
      for (const double value : pattern) bytes.push_back(static_cast<int8_t>(std::lround(value * scale)));
    }
  }
  size_t count() const { return patterns_.size(); }

  /// Up to kFeatures of them as words, zeros behind.
  std::vector<int32_t> words(const std::vector<size_t>& chosen, int64_t word_numbers) const {
    const int64_t count = divided(size_, word_numbers), bits = 32 / word_numbers;
    std::vector<int32_t> words(static_cast<size_t>(count * kFeatures));
    const uint32_t mask = ~uint32_t{0} >> (32 - bits);
    for (size_t k = 0; k < chosen.size(); ++k)
      for (int64_t n = 0; n < size_; ++n) {
        const auto value = static_cast<uint32_t>(int32_t{patterns_[chosen[k]][static_cast<size_t>(n)]}) & mask;
        int32_t& word = words[static_cast<size_t>(n / word_numbers * kFeatures) + k];
        word = static_cast<int32_t>(static_cast<uint32_t>(word) | value << (n % word_numbers * bits));
      }
    return words;
  }

 private:
  int64_t size_;
  std::vector<std::vector<int8_t>> patterns_;
};

using Features = std::array<int32_t, kFeatures>;

/// Computes the features of patches.
class FeatureMaker {
 public:
  FeatureMaker(const PatchLoops& loops, int64_t patch, int64_t channels)
      : loops_(loops), patterns_(patch, channels), count_(divided(patch * patch * channels, loops.word_numbers)) {}

  /// Chooses the patterns whose products vary most.
  void choose(const BorderedPicture& picture, const std::vector<int32_t>& labels) {
    std::vector<std::pair<double, size_t>> variances;
    for (size_t first = 0; first < patterns_.count(); first += kFeatures) {
      std::vector<size_t> some(std::min<size_t>(kFeatures, patterns_.count() - first));
      std::iota(some.begin(), some.end(), first);
      words_ = patterns_.words(some, loops_.word_numbers);
      const std::vector<Features> all = of(picture, labels);
      for (size_t k = 0; k < some.size(); ++k) variances.emplace_back(-variance(all, 0, all.size(), k), first + k);
    }
    std::sort(variances.begin(), variances.end());
    std::vector<size_t> chosen;
    for (size_t k = 0; k < std::min<size_t>(kFeatures, variances.size()); ++k) chosen.push_back(variances[k].second);
    words_ = patterns_.words(chosen, loops_.word_numbers);
  }

  /// Those of the patches with these labels.
  std::vector<Features> of(const BorderedPicture& picture, const std::vector<int32_t>& labels) const {
    std::vector<Features> all(labels.size());
    parallel_for(std::ssize(labels), 1 << 10, [&](int64_t begin, int64_t end) {
      std::vector<int32_t> scratch = made_scratch();
      for (int64_t k = begin; k < end; ++k) {
        const int32_t label = labels[static_cast<size_t>(k)];
        row(picture, label / picture.width, label % picture.width, 1, scratch, &all[static_cast<size_t>(k)]);
      }
    });
    return all;
  }
  /// Those of `count` patches of a row.
  void row(const BorderedPicture& picture, int64_t y, int64_t x, int64_t count, std::vector<int32_t>& scratch,
           Features* features) const {
    loops_.features(picture.rows, {words_.data(), count_}, y, x, count, scratch.data(), features->data());
  }
  std::vector<int32_t> made_scratch() const { return std::vector<int32_t>(static_cast<size_t>(2 * count_ + 32)); }

  /// Of one feature of some of features [begin, end).
  static double variance(const std::vector<Features>& all, size_t begin, size_t end, size_t feature) {
    constexpr size_t kLooked = 256;
    const size_t step = std::max<size_t>(1, (end - begin) / kLooked);
    double sum = 0, squares = 0, count = 0;
    for (size_t k = begin; k < end; k += step, ++count) {
      const double value = all[k][feature];
      sum += value;
      squares += value * value;
    }
    return count > 0 ? squares / count - sum / count * (sum / count) : 0;
  }

 private:
  const PatchLoops& loops_;
  Patterns patterns_;
  int64_t count_;
  std::vector<int32_t> words_;
};

/// A balanced tree over a sample: node k has nodes 2 k and 2 k + 1, from node 1 on.
class Tree {
 public:
  /// `features` has those features that the tree may use.
  Tree(std::vector<Features> sample, int levels, const std::vector<size_t>& features)
      : levels_(levels), nodes_(size_t{2} << levels), sample_(std::move(sample)), features_(features) {
    build(1, 0, sample_.size(), 0);
    sample_ = {};
  }
  int64_t leaves() const { return int64_t{1} << levels_; }

  /// Leaves of `count` patches, in steps that the processor does for several patches at once.
  void find(const Features* features, int64_t count, int32_t* leaves) const {
    constexpr int64_t kAtOnce = 16;
    for (int64_t first = 0; first < count; first += kAtOnce) {
      const int64_t some = std::min(kAtOnce, count - first);
      uint32_t nodes[kAtOnce];
      std::fill_n(nodes, kAtOnce, 1U);
      for (int level = 0; level < levels_; ++level)
        for (int64_t k = 0; k < some; ++k) {
          const Node node = nodes_[nodes[k]];
          nodes[k] = 2 * nodes[k] + (features[first + k][node.feature] >= node.value);
        }
      for (int64_t k = 0; k < some; ++k) leaves[first + k] = static_cast<int32_t>(nodes[k] - (1U << levels_));
    }
  }

 private:
  struct Node {
    uint32_t feature = 0;
    int32_t value = 0;
  };

  /// Halves sample [begin, end) at the median of the feature that varies most.
  void build(size_t node, size_t begin, size_t end, int level) {
    if (level == levels_ || should_stop()) return;
    double most = -1;
    for (const size_t feature : features_) {
      const double variance = FeatureMaker::variance(sample_, begin, end, feature);
      if (variance > most) most = variance, nodes_[node].feature = static_cast<uint32_t>(feature);
    }
    const size_t middle = begin + (end - begin) / 2, feature = nodes_[node].feature;
    const auto at = [&](size_t k) { return sample_.begin() + static_cast<ptrdiff_t>(k); };
    std::nth_element(at(begin), at(middle), at(end), [&](const Features& x, const Features& y) {
      return x[feature] != y[feature] ? x[feature] < y[feature] : x < y;
    });
    if (begin < end) nodes_[node].value = sample_[middle][feature];
    build(2 * node, begin, middle, level + 1);
    build(2 * node + 1, middle, end, level + 1);
  }

  int levels_;
  std::vector<Node> nodes_;
  std::vector<Features> sample_;
  std::vector<size_t> features_;
};

/// Bits of a seed and a number: the finaliser of SplitMix64.
uint64_t mixed(uint64_t seed, uint64_t number) {
  uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Numbers by leaf: those of leaf k are items[starts[k]] to items[starts[k + 1] - 1], in ascending order.
struct ByLeaf {
  std::vector<int32_t> starts, items;
};

/// Sorts 0, 1... by the leaf that each has; kNoLeaf leaves one out.
ByLeaf sorted_by_leaf(const std::vector<int32_t>& leaf_of, int64_t leaves) {
  constexpr int64_t kParts = 16;
  const int64_t count = std::ssize(leaf_of);
  ByLeaf sorted{std::vector<int32_t>(static_cast<size_t>(leaves + 1)), {}};
  std::vector<std::vector<int32_t>> places(kParts, std::vector<int32_t>(static_cast<size_t>(leaves)));
  const auto each_part = [&](auto&& use) {
    parallel_for(kParts, count < (1 << 16) ? kParts : 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        for (int64_t k = count * part / kParts; k < count * (part + 1) / kParts; ++k)
          if (const int32_t leaf = leaf_of[static_cast<size_t>(k)]; leaf != kNoLeaf)
            use(static_cast<int32_t>(k), places[static_cast<size_t>(part)][static_cast<size_t>(leaf)]);
    });
  };
  each_part([](int32_t, int32_t& place) { ++place; });
  int32_t place = 0;
  for (size_t leaf = 0; leaf < static_cast<size_t>(leaves); ++leaf) {
    sorted.starts[leaf] = place;
    for (auto& part : places) place += std::exchange(part[leaf], place);
  }
  sorted.starts.back() = place;
  sorted.items.resize(static_cast<size_t>(place));
  each_part([&](int32_t k, int32_t& at) { sorted.items[static_cast<size_t>(at++)] = k; });
  return sorted;
}

class TreeMatching {
 public:
  TreeMatching(const PatchMatching& job, uint64_t seed)
      : job_(job),
        loops_(patch_loops()),
        a_(with_border(job, job.a)),
        b_(with_border(job, job.b)),
        maker_(loops_, job.patch, job.channels),
        scores_(static_cast<size_t>(job.a.pixels() * job.kept), kNoScore),
        labels_(scores_.size(), kNoLabel) {
    const auto pixels = static_cast<int32_t>(job.b.pixels());
    for (int32_t label = 0; label < pixels; ++label)
      if (!job.mask || job.mask[label]) allowed_.push_back(label);
    make_trees(seed);
  }

  /// Each iteration hands on what the pixels on one side have: the left one, that above, the right one, that below.
  void run(int64_t iterations) {
    const int64_t passes = kTrees + iterations;
    for (int64_t pass = 0; pass < passes; ++pass) {
      if (job_.progress && pass > 0) job_.progress(job_.a.pixels() * pass / passes, job_.a.pixels());
      if (pass < kTrees) {
        Grown& tree = trees_[static_cast<size_t>(pass)];
        compare(tree, tree.visited.front());
        continue;
      }
      const int64_t iteration = pass - kTrees, step = iteration % 4 < 2 ? 1 : -1;
      Grown& tree = trees_[static_cast<size_t>(iteration / 2 % kTrees)];
      remember(tree, iteration % 2 == 0 ? proposed(tree, 0, step) : proposed(tree, step, 0));
      compare(tree, tree.visited.back());
    }
    write_result();
  }

 private:
  /// A tree with both pictures' patches.
  struct Grown {
    Tree tree;
    std::vector<int32_t> b_leaves;              ///< of each patch of b
    ByLeaf patches;                             ///< those of b that are allowed
    std::vector<std::vector<int32_t>> visited;  ///< leaves of each pixel of a: its own, and the last ones
  };

  void make_trees(uint64_t seed) {
    // Small patches are compared so fast that larger leaves pay.
    const int64_t words = a_.rows.words(4), leaf = words <= 16 ? 192 : 96;
    const auto allowed = std::ssize(allowed_);
    int levels = 0;
    while ((allowed >> levels) > leaf) ++levels;
    maker_.choose(b_, sampled(4096, mixed(seed, 0)));
    std::vector<std::optional<Tree>> made(kTrees);
    std::vector<std::vector<Features>> samples;
    samples.reserve(kTrees);
    for (uint64_t k = 0; k < kTrees; ++k)
      samples.push_back(maker_.of(b_, sampled(kSampled << levels, mixed(seed, 1000 + k))));
    parallel_for(kTrees, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        made[static_cast<size_t>(k)].emplace(std::move(samples[static_cast<size_t>(k)]), levels, features_of(seed, k));
    });
    for (auto& tree : made) trees_.push_back({std::move(*tree), {}, {}, {}});
    std::vector<std::vector<int32_t>> of_a = leaves_of(a_), of_b = leaves_of(b_);
    for (size_t k = 0; k < trees_.size(); ++k) {
      Grown& grown = trees_[k];
      grown.b_leaves = std::move(of_b[k]);
      grown.visited.push_back(std::move(of_a[k]));
      std::vector<int32_t> leaves = grown.b_leaves;
      if (job_.mask)
        for (size_t label = 0; label < leaves.size(); ++label)
          if (!job_.mask[label]) leaves[label] = kNoLeaf;
      grown.patches = sorted_by_leaf(leaves, grown.tree.leaves());
    }
  }

  /// Features that a tree may use: all but the first one do without a third of them.
  static std::vector<size_t> features_of(uint64_t seed, int64_t tree) {
    std::vector<size_t> features(kFeatures);
    std::iota(features.begin(), features.end(), 0U);
    for (int64_t k = 0; tree > 0 && k < kFeatures / 3; ++k)
      features.erase(
          features.begin() +
          static_cast<ptrdiff_t>(mixed(seed, static_cast<uint64_t>(tree * kFeatures + k)) % features.size()));
    return features;
  }

  /// Some allowed labels, at equal distances.
  std::vector<int32_t> sampled(int64_t wanted, uint64_t bits) const {
    const int64_t count = std::ssize(allowed_), step = std::max<int64_t>(1, count / wanted);
    std::vector<int32_t> some;
    for (int64_t k = static_cast<int64_t>(bits % static_cast<uint64_t>(step)); k < count; k += step)
      some.push_back(allowed_[static_cast<size_t>(k)]);
    return some;
  }

  /// Leaves of all patches of a picture in each tree.
  std::vector<std::vector<int32_t>> leaves_of(const BorderedPicture& picture) const {
    std::vector<std::vector<int32_t>> leaves(trees_.size(),
                                             std::vector<int32_t>(static_cast<size_t>(picture.height * picture.width)));
    parallel_for(picture.height, std::max<int64_t>(1, (1 << 11) / picture.width), [&](int64_t begin, int64_t end) {
      constexpr int64_t kAtOnce = 64;
      std::vector<int32_t> scratch = maker_.made_scratch();
      std::vector<Features> features(kAtOnce);
      for (int64_t y = begin; y < end && !should_stop(); ++y)
        for (int64_t x = 0; x < picture.width; x += kAtOnce) {
          const int64_t count = std::min(kAtOnce, picture.width - x);
          maker_.row(picture, y, x, count, scratch, features.data());
          for (size_t k = 0; k < trees_.size(); ++k)
            trees_[k].tree.find(features.data(), count, leaves[k].data() + y * picture.width + x);
        }
    });
    return leaves;
  }

  /// For each pixel the leaf of the patch beside the nearest one of the pixel (dy, dx) before it, if it is a new one.
  std::vector<int32_t> proposed(const Grown& tree, int64_t dy, int64_t dx) const {
    std::vector<int32_t> leaves(static_cast<size_t>(job_.a.pixels()), kNoLeaf);
    parallel_for(a_.height, std::max<int64_t>(1, (1 << 13) / a_.width), [&](int64_t begin, int64_t end) {
      for (int64_t y = std::max(begin, dy); y < std::min(end, a_.height + dy); ++y)
        for (int64_t x = std::max<int64_t>(0, dx); x < std::min(a_.width, a_.width + dx); ++x) {
          const int32_t label = labels_[static_cast<size_t>(((y - dy) * a_.width + x - dx) * job_.kept)];
          if (label == kNoLabel) continue;
          const int64_t b_y = label / b_.width + dy, b_x = label % b_.width + dx;
          if (b_y < 0 || b_y >= b_.height || b_x < 0 || b_x >= b_.width) continue;
          const int32_t leaf = tree.b_leaves[static_cast<size_t>(b_y * b_.width + b_x)];
          const auto pixel = static_cast<size_t>(y * a_.width + x);
          const auto is_known = [&](const std::vector<int32_t>& visited) { return visited[pixel] == leaf; };
          if (std::ranges::none_of(tree.visited, is_known)) leaves[pixel] = leaf;
        }
    });
    return leaves;
  }

  /// Compares each pixel with the patches of a leaf.
  void compare(const Grown& tree, const std::vector<int32_t>& leaf_of) {
    const int64_t leaves = tree.tree.leaves();
    const ByLeaf pixels = sorted_by_leaf(leaf_of, leaves);
    const int64_t words = a_.rows.words(loops_.word_numbers);
    parallel_for(leaves, 1, [&](int64_t begin, int64_t end) {
      const auto scratch = std::make_unique_for_overwrite<int32_t[]>(static_cast<size_t>(leaf_scratch(words)));
      std::vector<int32_t> some;
      for (int64_t leaf = begin; leaf < end && !should_stop(); ++leaf) {
        const auto at = static_cast<size_t>(leaf);
        const int64_t first = pixels.starts[at], count = pixels.starts[at + 1] - first,
                      first_item = tree.patches.starts[at], items = tree.patches.starts[at + 1] - first_item;
        if (count == 0 || items == 0) continue;
        // Leaves of more are of patches that are nearly equal.
        const int64_t used = std::min(items, kMostParts * kMostItems);
        for (int64_t from = 0; from < used; from += kMostItems) {
          some.clear();
          for (int64_t k = from; k < std::min(from + kMostItems, used); ++k)
            some.push_back(tree.patches.items[static_cast<size_t>(first_item + items * k / used)]);
          loops_.scan({a_.rows, b_.rows, b_.width, some.data(), std::ssize(some), pixels.items.data() + first, count,
                       a_.width, job_.kept, scores_.data(), labels_.data(), scratch.get()});
        }
      }
    });
  }
  static void remember(Grown& tree, std::vector<int32_t> leaf_of) {
    constexpr size_t kRemembered = 4;
    if (tree.visited.size() > kRemembered) tree.visited.erase(tree.visited.begin() + 1);
    tree.visited.push_back(std::move(leaf_of));
  }

  /// |a|^2 of the patches of row y.
  void add_squares(int64_t y, std::vector<int64_t>& columns, int64_t sign) const {
    const uint8_t* const row = a_.rows.at(y, 0);
    for (int64_t x = 0; x < std::ssize(columns); ++x) {
      int64_t sum = 0;
      for (int64_t c = 0; c < job_.channels; ++c) {
        const int64_t value = row[x * job_.channels + c];
        sum += value * value;
      }
      columns[static_cast<size_t>(x)] += sign * sum;
    }
  }

  void write_result() {
    constexpr int64_t kBand = 64;
    parallel_for(divided(a_.height, kBand), 1, [&](int64_t begin, int64_t end) {
      for (int64_t band = begin; band < end; ++band) {
        std::vector<int64_t> columns(static_cast<size_t>(a_.width + job_.patch - 1));
        const int64_t top = band * kBand, bottom = std::min(top + kBand, a_.height);
        for (int64_t y = top; y < top + job_.patch - 1; ++y) add_squares(y, columns, 1);
        for (int64_t y = top; y < bottom; ++y) {
          add_squares(y + job_.patch - 1, columns, 1);
          int64_t square = std::accumulate(columns.begin(), columns.begin() + job_.patch - 1, int64_t{0});
          for (int64_t x = 0; x < a_.width; ++x) {
            square += columns[static_cast<size_t>(x + job_.patch - 1)];
            write_pixel(y * a_.width + x, square);
            square -= columns[static_cast<size_t>(x)];
          }
          add_squares(y, columns, -1);
        }
      }
    });
  }
  int64_t distance(int64_t pixel, int64_t label) const {
    int64_t sum = 0;
    for (int64_t row = 0; row < job_.patch; ++row) {
      const uint8_t *const p = a_.rows.at(pixel / a_.width + row, pixel % a_.width), *const q = b_.rows.at(
                                                                                         label / b_.width + row,
                                                                                         label % b_.width);
      for (int64_t k = 0; k < a_.rows.bytes; ++k) sum += int64_t{p[k] - q[k]} * (p[k] - q[k]);
    }
    return sum;
  }
  /// Adds the first patches that are allowed where leaves had too few.
  void complete(int64_t pixel, int64_t square) {
    int32_t *const labels = labels_.data() + pixel * job_.kept, *const scores = scores_.data() + pixel * job_.kept;
    for (int64_t k = 0; k < job_.kept; ++k) {
      const int32_t label = allowed_[static_cast<size_t>(k)];
      if (std::find(labels, labels + job_.kept, label) != labels + job_.kept) continue;
      const auto score = static_cast<int32_t>(square - distance(pixel, label));
      int64_t at = job_.kept;
      for (; at > 0 && (scores[at - 1] < score || (scores[at - 1] == score && labels[at - 1] > label)); --at)
        if (at < job_.kept) scores[at] = scores[at - 1], labels[at] = labels[at - 1];
      if (at < job_.kept) scores[at] = score, labels[at] = label;
    }
  }
  void write_pixel(int64_t pixel, int64_t square) {
    if (labels_[static_cast<size_t>((pixel + 1) * job_.kept - 1)] == kNoLabel) complete(pixel, square);
    for (int64_t k = 0; k < job_.kept; ++k) {
      const auto at = static_cast<size_t>(pixel * job_.kept + k);
      job_.field[2 * at] = static_cast<int32_t>(labels_[at] / b_.width);
      job_.field[2 * at + 1] = static_cast<int32_t>(labels_[at] % b_.width);
      static_cast<int64_t*>(job_.distances)[at] = square - scores_[at];
    }
  }

  const PatchMatching& job_;
  const PatchLoops& loops_;
  const BorderedPicture a_, b_;
  FeatureMaker maker_;
  std::vector<int32_t> allowed_, scores_, labels_;
  std::vector<Grown> trees_;
};

}  // namespace

void match_by_trees(const PatchMatching& job, uint64_t seed, int64_t iterations) {
  TreeMatching(job, seed).run(iterations);
}

}  // namespace iruka::cpu_backend
