#include "image/geometry/axis_map.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>
#include <numeric>
#include <unordered_map>

#include "core/fork.h"
#include "core/kernels/border.h"
#include "core/once.h"

namespace iruka::image {
namespace {

static_assert(static_cast<int>(Border::wrap) == kWrapBorder);

constexpr size_t kMostKeptBytes = size_t{32} << 20;  ///< of maps
constexpr int32_t kFixedOne = 1 << AxisMap::kFixedBits;
/// Integer weights may change a uint8 result by so much of a level along an axis.
constexpr double kMostFixedError = 0.4 / 255;
/// A row of sums of bytes has 6 bits of fraction in 16 bits, which bounds the sum of the weights' sizes.
constexpr double kMostFixedSum = 1.95;

double sinc(double x) {
  const double angle = x * std::numbers::pi;
  return x == 0 ? 1 : std::sin(angle) / angle;
}
/// Keys' cubic convolution.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// A filter by its radius and its value at a distance, for a scale of one.
struct Kernel {
  double radius;
  double (*value)(double);
};
Kernel kernel_of(Filter filter, Convention convention) {
  switch (filter) {
    case Filter::linear:
    case Filter::triangular: return {1, [](double x) { return std::max(0.0, 1 - std::abs(x)); }};
    case Filter::cubic:
      if (convention == Convention::opencv) return {2, [](double x) { return cubic(x, -0.75); }};
      return {2, [](double x) { return cubic(x, -0.5); }};
    case Filter::lanczos3: return {3, [](double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }};
    case Filter::lanczos4: return {4, [](double x) { return std::abs(x) < 4 ? sinc(x) * sinc(x / 4) : 0; }};
    // The standard deviation is a radius over the square root of 8, as in DALI.
    case Filter::gaussian: return {1, [](double x) { return std::abs(x) < 1 ? std::exp(-4 * x * x) : 0; }};
    default: return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
  }
}

/// The weights of one output from input `first` on.
struct Weights {
  int64_t first = 0;
  std::vector<double> values;

  void set_single(int64_t place, int64_t in) {
    first = std::clamp<int64_t>(place, 0, in - 1);
    values.assign(1, 1.0);
  }
  /// Inputs beyond the ends become those at the ends.
  void gather_at_ends(int64_t in) {
    const auto at = [&](size_t k) { return std::clamp<int64_t>(first + static_cast<int64_t>(k), 0, in - 1); };
    const int64_t begin = at(0);
    std::vector<double> gathered(static_cast<size_t>(at(values.size() - 1) - begin + 1));
    for (size_t k = 0; k < values.size(); ++k) gathered[static_cast<size_t>(at(k) - begin)] += values[k];
    first = begin;
    values = std::move(gathered);
  }
  /// Divides by the sum, without zeros at both ends.
  void normalize(int64_t nearest, int64_t in) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (!(std::abs(sum) > 1e-9)) return set_single(nearest, in);
    const auto is_used = [](double value) { return value != 0; };
    const auto begin = std::ranges::find_if(values, is_used);
    first += begin - values.begin();
    values.erase(values.begin(), begin);
    while (!is_used(values.back())) values.pop_back();
    for (double& value : values) value /= sum;
  }
};

/// The overlap of each input with the part of the input that becomes the output, as OpenCV's INTER_AREA.
void weigh_overlaps(const AxisRecipe& recipe, double begin, double end, Weights& weights) {
  const auto in = static_cast<double>(recipe.in);
  begin = std::clamp(begin, 0.0, in), end = std::clamp(end, 0.0, in);
  weights.first = static_cast<int64_t>(std::floor(begin));
  weights.values.clear();
  for (auto at = static_cast<double>(weights.first); at < end; ++at)
    weights.values.push_back(std::max(0.0, std::min(at + 1, end) - std::max(at, begin)));
  if (weights.values.empty()) weights.values.push_back(0);
}

/// OpenCV's INTER_AREA where an axis of the picture grows: an output that lies within one input copies it.
void weigh_enlarged_area(const AxisRecipe& recipe, int64_t output, double scale, Weights& weights) {
  const auto x = static_cast<double>(output);
  const double place = std::floor(recipe.begin + x * scale);
  // In OpenCV's precision, because a share of one is taken for none.
  auto share =
      static_cast<float>((x + 1) - (place - recipe.begin + 1) * (static_cast<double>(recipe.out) / recipe.length));
  share = share <= 0 ? 0 : share - std::floor(share);
  weights.first = static_cast<int64_t>(place);
  weights.values.assign({1.0 - static_cast<double>(share), static_cast<double>(share)});
  weights.gather_at_ends(recipe.in);
}

/// OpenCV's pyrDown, which mirrors the picture at its ends.
void weigh_halving(const AxisRecipe& recipe, int64_t output, Weights& weights) {
  constexpr double kSixteenths[] = {1, 4, 6, 4, 1};
  const auto place = [&](int64_t k) { return place_within<int64_t>(kReflectBorder, 2 * output - 2 + k, recipe.in); };
  int64_t last = place(0);
  weights.first = last;
  for (int64_t k = 1; k < 5; ++k) {
    weights.first = std::min(weights.first, place(k));
    last = std::max(last, place(k));
  }
  weights.values.assign(static_cast<size_t>(last - weights.first + 1), 0.0);
  for (int64_t k = 0; k < 5; ++k) weights.values[static_cast<size_t>(place(k) - weights.first)] += kSixteenths[k] / 16;
}

void weigh_output(const AxisRecipe& recipe, int64_t output, Weights& weights) {
  if (recipe.halves) return weigh_halving(recipe, output, weights);
  const bool is_opencv = recipe.convention == Convention::opencv;
  const auto out = static_cast<double>(recipe.out), x = static_cast<double>(output);
  const double scale = is_opencv ? 1 / (out / recipe.length) : recipe.length / out;  // as each rounds it
  const double center = recipe.begin + (x + 0.5) * scale;
  if (recipe.filter == Filter::nearest)
    return weights.set_single(static_cast<int64_t>(std::floor(recipe.begin + x * scale)), recipe.in);
  const auto nearest = static_cast<int64_t>(std::floor(center));
  if (recipe.filter == Filter::area && is_opencv) {
    if (recipe.area_enlarges)
      weigh_enlarged_area(recipe, output, scale, weights);
    else
      weigh_overlaps(recipe, recipe.begin + x * scale, recipe.begin + (x + 1) * scale, weights);
    return weights.normalize(nearest, recipe.in);
  }
  const Kernel kernel = kernel_of(recipe.filter, recipe.convention);
  const double stretch = recipe.antialias ? std::max(scale, 1.0) : 1.0, support = kernel.radius * stretch;
  weights.first = static_cast<int64_t>(std::floor(center - support + 0.5));
  auto end = static_cast<int64_t>(std::floor(center + support + 0.5));
  if (!is_opencv) {
    weights.first = std::max<int64_t>(weights.first, 0);
    end = std::min(end, recipe.in);
  }
  weights.values.clear();
  for (int64_t k = weights.first; k < end; ++k)
    weights.values.push_back(kernel.value((static_cast<double>(k) - center + 0.5) / stretch));
  if (weights.values.empty()) return weights.set_single(nearest, recipe.in);
  if (is_opencv) weights.gather_at_ends(recipe.in);
  weights.normalize(nearest, recipe.in);
}

/// What is left of a weight when it is rounded down.
struct Rest {
  double value;
  int place;
};
/// The largest first; equal ones keep their order. `rests` is a buffer that is used again and again.
void sort(std::vector<Rest>& rests) {
  constexpr size_t kFew = 32;
  const auto is_larger = [](const Rest& a, const Rest& b) { return a.value > b.value; };
  if (rests.size() > kFew) {
    std::ranges::stable_sort(rests, is_larger);
    return;
  }
  for (auto next = rests.begin(); next != rests.end(); ++next)
    std::rotate(std::upper_bound(rests.begin(), next, *next, is_larger), next, next + 1);
}

/// Integers that are close to `weights` and whose sum is kFixedOne. Returns the sum of their errors.
double fix_weights(const float* weights, int count, std::vector<Rest>& rests, int16_t* fixed) {
  rests.clear();
  int32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    const double exact = static_cast<double>(weights[k]) * kFixedOne, lower = std::floor(exact);
    fixed[k] = static_cast<int16_t>(lower);
    sum += fixed[k];
    rests.push_back({exact - lower, k});
  }
  sort(rests);
  double error = 0;
  for (size_t k = 0; k < rests.size(); ++k) {
    const bool is_raised = sum + static_cast<int32_t>(k) < kFixedOne;
    if (is_raised) ++fixed[rests[k].place];
    error += is_raised ? 1 - rests[k].value : rests[k].value;
  }
  return error / kFixedOne;
}

void fix(AxisMap& map) {
  const auto even = static_cast<size_t>(map.even_taps()), taps = static_cast<size_t>(map.taps);
  map.fixed.assign(even * map.start.size(), 0);
  std::vector<Rest> rests;
  for (size_t x = 0; x < map.start.size(); ++x) {
    const float* const weights = map.weights.data() + x * taps;
    const int count = map.count[x];
    double size = 0;
    for (int k = 0; k < count; ++k) size += std::abs(static_cast<double>(weights[k]));
    if (size > kMostFixedSum || fix_weights(weights, count, rests, map.fixed.data() + x * even) > kMostFixedError) {
      map.fixed.clear();
      return;
    }
  }
}

/// Pillow adds the scale up from one output to the next, which decides between two inputs that are equally near.
void place_nearest(const AxisRecipe& recipe, AxisMap& map) {
  const double scale = recipe.length / static_cast<double>(recipe.out);
  double place = recipe.begin + scale * 0.5;
  for (int32_t& start : map.start) {
    start = static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(std::floor(place)), 0, recipe.in - 1));
    place += scale;
  }
  std::ranges::fill(map.count, 1);
  map.weights.assign(map.start.size(), 1.0F);
}

/// The map of the resize alone.
AxisMap resized(const AxisRecipe& recipe) {
  AxisMap map;
  map.in = recipe.in;
  const auto out = static_cast<size_t>(recipe.out);
  map.start.resize(out);
  map.count.resize(out);
  if (!recipe.resizes) {
    std::iota(map.start.begin(), map.start.end(), 0);
    std::ranges::fill(map.count, 1);
    map.weights.assign(out, 1.0F);
    return map;
  }
  if (recipe.filter == Filter::nearest && !recipe.halves && recipe.convention == Convention::pillow) {
    place_nearest(recipe, map);
    return map;
  }
  std::vector<double> all;
  std::vector<size_t> places(out);
  Weights weights;
  for (size_t x = 0; x < out; ++x) {
    weigh_output(recipe, static_cast<int64_t>(x), weights);
    map.start[x] = static_cast<int32_t>(weights.first);
    map.count[x] = static_cast<int32_t>(weights.values.size());
    map.taps = std::max(map.taps, map.count[x]);
    places[x] = all.size();
    all.insert(all.end(), weights.values.begin(), weights.values.end());
  }
  const auto taps = static_cast<size_t>(map.taps);
  map.weights.assign(out * taps, 0.0F);
  for (size_t x = 0; x < out; ++x) {
    for (size_t k = 0; k < static_cast<size_t>(map.count[x]); ++k)
      map.weights[x * taps + k] = static_cast<float>(all[places[x] + k]);
  }
  return map;
}

/// Which outputs of `extent` are the outputs behind a step, -1 for constants.
std::vector<int64_t> selected(const Selection& step, const std::vector<int64_t>& before) {
  const auto extent = static_cast<int64_t>(before.size());
  std::vector<int64_t> made;
  if (step.kind == Selection::Kind::flip) return {before.rbegin(), before.rend()};
  const bool is_crop = step.kind == Selection::Kind::crop;
  const int64_t first = is_crop ? step.first : -step.first;
  const int64_t count = is_crop ? step.count : extent + step.first + step.count;
  made.reserve(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    const int64_t place = place_within(static_cast<int>(step.border), first + k, extent);
    made.push_back(place < 0 ? -1 : before[static_cast<size_t>(place)]);
  }
  return made;
}

AxisMap select(AxisMap map, const std::vector<int64_t>& outputs) {
  AxisMap made;
  made.in = map.in;
  made.taps = map.taps;
  const auto taps = static_cast<size_t>(map.taps);
  made.weights.assign(outputs.size() * taps, 0.0F);
  for (size_t x = 0; x < outputs.size(); ++x) {
    const bool is_outside = outputs[x] < 0;
    const auto from = static_cast<size_t>(is_outside ? 0 : outputs[x]);
    made.start.push_back(is_outside ? AxisMap::kOutside : map.start[from]);
    made.count.push_back(is_outside ? 0 : map.count[from]);
    if (!is_outside) std::copy_n(&map.weights[from * taps], taps, &made.weights[x * taps]);
  }
  return made;
}

/// What is known of the finished map.
void describe(AxisMap& map) {
  static constinit std::atomic<uint64_t> ids{0};
  map.id = ++ids;
  map.out = static_cast<int64_t>(map.start.size());
  while (map.first < map.out && map.count[static_cast<size_t>(map.first)] == 0) ++map.first;
  for (map.end = map.out; map.end > map.first && map.count[static_cast<size_t>(map.end - 1)] == 0;) --map.end;
  const auto taps = static_cast<size_t>(map.taps);
  map.selects = true;
  for (size_t x = 0; map.selects && x < map.start.size(); ++x)
    map.selects = map.count[x] == 0 || (map.count[x] == 1 && map.weights[x * taps] == 1.0F);
  map.is_run = map.selects;
  for (auto x = static_cast<size_t>(map.first) + 1; map.is_run && x < static_cast<size_t>(map.end); ++x)
    map.is_run = map.start[x] == map.start[x - 1] + 1;
}

std::shared_ptr<const AxisMap> make(const AxisRecipe& recipe) {
  AxisMap map = resized(recipe);
  if (!recipe.selections.empty()) {
    std::vector<int64_t> outputs(map.start.size());
    std::iota(outputs.begin(), outputs.end(), 0);
    for (const Selection& step : recipe.selections) outputs = selected(step, outputs);
    map = select(std::move(map), outputs);
  }
  describe(map);
  if (recipe.has_integers) fix(map);
  return std::make_shared<const AxisMap>(std::move(map));
}

struct RecipeHash {
  size_t operator()(const AxisRecipe& recipe) const {
    size_t hash = 0;
    const auto add = [&]<class T>(const T& value) { hash = (hash ^ std::hash<T>()(value)) * 0x9e3779b97f4a7c15; };
    add(recipe.in), add(recipe.out), add(recipe.begin), add(recipe.length), add(static_cast<int>(recipe.filter));
    for (const Selection& step : recipe.selections) add(step.first), add(step.count);
    return hash;
  }
};

/// Maps by their recipes, within a budget of memory; those that were not used for longest are dropped.
class KeptMaps {
 public:
  std::shared_ptr<const AxisMap> find(const AxisRecipe& recipe) {
    const auto found = places_.find(recipe);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->map;
  }
  void add(const AxisRecipe& recipe, const std::shared_ptr<const AxisMap>& map) {
    entries_.push_front({recipe, map});
    if (!places_.try_emplace(recipe, entries_.begin()).second) {  // another thread has made it
      entries_.pop_front();
      return;
    }
    bytes_ += bytes_of(*map);
    while (bytes_ > kMostKeptBytes && entries_.size() > 1) {
      bytes_ -= bytes_of(*entries_.back().map);
      places_.erase(entries_.back().recipe);
      entries_.pop_back();
    }
  }

 private:
  struct Entry {
    AxisRecipe recipe;
    std::shared_ptr<const AxisMap> map;
  };
  static size_t bytes_of(const AxisMap& map) {
    constexpr size_t kOwn = 1024;  // of the entry
    return kOwn + map.start.size() * 2 * sizeof(int32_t) + map.weights.size() * sizeof(float) +
           map.fixed.size() * sizeof(int16_t);
  }

  std::list<Entry> entries_;  ///< the last used first
  std::unordered_map<AxisRecipe, std::list<Entry>::iterator, RecipeHash> places_;
  size_t bytes_ = 0;
};

}  // namespace

int64_t AxisRecipe::extent() const {
  int64_t extent = out;
  for (const Selection& step : selections) {
    if (step.kind == Selection::Kind::crop) extent = step.count;
    if (step.kind == Selection::Kind::pad) extent += step.first + step.count;
  }
  return extent;
}

std::shared_ptr<const AxisMap> axis_map(const AxisRecipe& recipe) {
  static constinit ForkSafeMutex mutex;
  KeptMaps& kept = made_once([] { return KeptMaps(); });
  {
    const std::lock_guard lock(mutex);
    if (auto found = kept.find(recipe)) return found;
  }
  std::shared_ptr<const AxisMap> map = make(recipe);
  const std::lock_guard lock(mutex);
  kept.add(recipe, map);
  return map;
}

}  // namespace iruka::image
