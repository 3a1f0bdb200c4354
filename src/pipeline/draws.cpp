#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "image/numbers.h"
#include "iruka/error.h"
#include "iruka/pipeline.h"
#include "ops/random/philox.h"

namespace iruka::pipeline {

uint32_t Draws::bits() {
  // A block has four numbers. The counter holds the index (48 bits), the epoch (32), the block (16) and the place (32);
  // blocks beyond change the place.
  const uint32_t block = drawn_ / 4, word = drawn_ % 4;
  ++drawn_;
  const uint64_t stream = uint64_t{block & 0xffff} << 32 | static_cast<uint32_t>(key_.epoch);
  const uint32_t place = place_ ^ (block >> 16) * 0x9E3779B9u;
  return ops::philox_block(key_.seed, stream, static_cast<uint64_t>(key_.index), place)[word];
}

double Draws::uniform() {
  const uint64_t high = bits() >> 5, low = bits() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double Draws::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

int64_t Draws::below(int64_t count) {
  // Lemire, "Fast random integer generation in an interval" (2019).
  const auto range = static_cast<uint64_t>(count);
  const uint64_t rejected = -range % range;
  while (true) {
    const uint64_t high = bits();
    const auto product = static_cast<unsigned __int128>(high << 32 | bits()) * range;
    if (static_cast<uint64_t>(product) >= rejected) return static_cast<int64_t>(product >> 64);
  }
}

void Distribution::check(const std::string& where) const {
  const auto refuse = [&](const std::string& rule) {
    throw ValueError(where + ": " + rule + ", not " + image::number_text(first) + " and " + image::number_text(second));
  };
  if (!std::isfinite(first) || !std::isfinite(second)) refuse("the numbers of a distribution must be finite");
  switch (kind) {
    case Kind::uniform:
      if (first > second) refuse("a uniform distribution goes from low to high");
      break;
    case Kind::log_uniform:
      if (first <= 0 || first > second) refuse("a logarithmic distribution goes from low to high, both positive");
      break;
    case Kind::normal:
      if (second < 0) refuse("a normal distribution has a deviation of at least 0");
      break;
    case Kind::bernoulli:
      if (first < 0 || first > 1)
        throw ValueError(where + ": a probability is 0 to 1, not " + image::number_text(first));
      break;
    case Kind::integers:
      if (first >= second || first != std::floor(first) || second != std::floor(second))
        refuse("integers go from low to below high");
      if (std::max(-first, second) > 0x1p53) refuse("integers go from -2^53 to 2^53");
      break;
    case Kind::choice: {
      if (values.empty()) throw ValueError(where + ": there is nothing to choose from");
      if (!weights.empty() && weights.size() != values.size())
        throw ValueError(where + ": there are " + std::to_string(values.size()) + " values and " +
                         std::to_string(weights.size()) + " weights");
      for (const double value : values) {
        if (!std::isfinite(value))
          throw ValueError(where + ": the values to choose from must be finite, not " + image::number_text(value));
      }
      for (const double weight : weights) {
        if (!std::isfinite(weight) || weight < 0)
          throw ValueError(where + ": weights are finite and at least 0, not " + image::number_text(weight));
      }
      if (!weights.empty() && !(std::reduce(weights.begin(), weights.end()) > 0))
        throw ValueError(where + ": the sum of the weights must be positive");
      break;
    }
    case Kind::constant: break;
  }
}

namespace {
double chosen_value(const Distribution& given, Draws& draws) {
  if (given.weights.empty())
    return given.values[static_cast<size_t>(draws.below(static_cast<int64_t>(given.values.size())))];
  double rest = draws.uniform() * std::reduce(given.weights.begin(), given.weights.end());
  size_t last = 0;
  for (size_t k = 0; k < given.values.size(); ++k) {
    if (given.weights[k] == 0) continue;
    last = k;
    if (rest < given.weights[k]) break;
    rest -= given.weights[k];
  }
  return given.values[last];
}
}  // namespace

double Distribution::draw(Draws& draws) const {
  switch (kind) {
    case Kind::constant: return first;
    case Kind::uniform: return first + (second - first) * draws.uniform();
    case Kind::log_uniform: return std::exp(std::log(first) + (std::log(second) - std::log(first)) * draws.uniform());
    case Kind::normal: return first + second * draws.normal();
    case Kind::bernoulli: return draws.uniform() < first ? 1 : 0;
    case Kind::integers: return first + static_cast<double>(draws.below(static_cast<int64_t>(second - first)));
    case Kind::choice: return chosen_value(*this, draws);
  }
  return first;
}

}  // namespace iruka::pipeline
