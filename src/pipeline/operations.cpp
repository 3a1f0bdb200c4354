#include <algorithm>
#include <cmath>
#include <numeric>

#include "image/numbers.h"
#include "iruka/error.h"
#include "iruka/pipeline.h"
#include "pipeline/stage_fields.h"

namespace iruka::pipeline {
namespace {

double number_of(const Parameter& parameter, std::span<const Value> inputs, Draws& draws) {
  return parameter.input < 0 ? parameter.distribution.draw(draws)
                             : inputs[static_cast<size_t>(parameter.input)].number();
}

size_t inputs_of(const Parameter& parameter) { return static_cast<size_t>(std::max(parameter.input, -1) + 1); }

std::vector<Value> one(Value value) {
  std::vector<Value> values;
  values.push_back(std::move(value));
  return values;
}

class Decode final : public Operation {
 public:
  explicit Decode(const image::DecodeOptions& options) : options_(options) { options_.chain = nullptr; }
  std::string name() const override { return "decode"; }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey&, uint32_t) const override {
    return one(inputs[0].decoded(options_, "decode"));
  }

 private:
  image::DecodeOptions options_;
};

class Stages final : public Operation {
 public:
  Stages(std::vector<image::Stage> stages, std::vector<Binding> bindings, std::optional<image::Layout> layout)
      : stages_(std::move(stages)), bindings_(std::move(bindings)), layout_(layout) {
    for (const Binding& binding : bindings_) {
      if (binding.stage >= stages_.size())
        throw ValueError("pipeline: there is no stage " + std::to_string(binding.stage) + " of " +
                         std::to_string(stages_.size()));
      setters_.push_back(find_field(stages_[binding.stage], binding.field, binding.element));
      binding.parameter.distribution.check("pipeline: " + binding.field);
    }
    if (bindings_.empty())
      image::Chain(stages_, layout_.value_or(image::Layout::hwc));  // refuses what no picture could pass
  }
  std::string name() const override { return "stages"; }
  size_t inputs() const override {
    size_t most = 1;
    for (const Binding& binding : bindings_) most = std::max(most, inputs_of(binding.parameter));
    return most;
  }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey& key, uint32_t place) const override {
    if (bindings_.empty()) return one(std::move(inputs[0]).with(stages_, layout_));
    std::vector<image::Stage> own = stages_;
    Draws draws(key, place);
    for (size_t k = 0; k < bindings_.size(); ++k) {
      const Binding& binding = bindings_[k];
      setters_[k](own[binding.stage], binding.element, number_of(binding.parameter, inputs, draws));
    }
    return one(std::move(inputs[0]).with(own, layout_));
  }

 private:
  std::vector<image::Stage> stages_;
  std::vector<Binding> bindings_;
  std::vector<SetField> setters_;
  std::optional<image::Layout> layout_;
};

class CropAt final : public Operation {
 public:
  CropAt(int64_t height, int64_t width, Parameter y, Parameter x, Rounding rounding,
         std::optional<image::Layout> layout)
      : height_(height), width_(width), y_(std::move(y)), x_(std::move(x)), rounding_(rounding), layout_(layout) {
    if (height < 1 || width < 1)
      throw ValueError("crop: the size must be positive, not (" + std::to_string(height) + ", " +
                       std::to_string(width) + ")");
    y_.distribution.check("crop");
    x_.distribution.check("crop");
  }
  std::string name() const override { return "crop"; }
  size_t inputs() const override { return std::max({size_t{1}, inputs_of(y_), inputs_of(x_)}); }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey& key, uint32_t place) const override {
    Draws draws(key, place);
    const double y = position(y_, inputs, draws), x = position(x_, inputs, draws);
    Value picture = std::move(inputs[0]).with({}, layout_);
    const auto [rows, columns] = picture.size();
    if (rows < height_ || columns < width_)
      throw ValueError("crop: a part of (" + std::to_string(height_) + ", " + std::to_string(width_) +
                       ") is larger than the picture, (" + std::to_string(rows) + ", " + std::to_string(columns) + ")");
    const image::Stage crop = image::Crop{
        .height = height_, .width = width_, .y = corner(y, rows - height_), .x = corner(x, columns - width_)};
    return one(std::move(picture).with({&crop, 1}, layout_));
  }

 private:
  static double position(const Parameter& parameter, std::span<const Value> inputs, Draws& draws) {
    const double position = number_of(parameter, inputs, draws);
    if (!(position >= 0 && position <= 1))
      throw ValueError("crop: a position is 0 (the first rows or columns) to 1, not " + image::number_text(position));
    return position;
  }

  int64_t corner(double position, int64_t room) const {
    const double at = position * static_cast<double>(room);
    return std::llround(rounding_ == Rounding::down ? std::floor(at) : at);
  }

  int64_t height_, width_;
  Parameter y_, x_;
  Rounding rounding_;
  std::optional<image::Layout> layout_;
};

class ResizedCrop final : public Operation {
 public:
  ResizedCrop(const RandomResizedCrop& options, std::optional<image::Layout> layout)
      : options_(options), layout_(layout) {
    if (!(0 < options.least_area && options.least_area <= options.most_area && options.most_area <= 1))
      throw ValueError("random_resized_crop: areas are parts of the picture, 0 < least <= most <= 1, not " +
                       image::number_text(options.least_area) + " and " + image::number_text(options.most_area));
    if (!(0 < options.least_ratio && options.least_ratio <= options.most_ratio) || !std::isfinite(options.most_ratio))
      throw ValueError("random_resized_crop: ratios of width to height go from low to high, both positive, not " +
                       image::number_text(options.least_ratio) + " and " + image::number_text(options.most_ratio));
    if (options.resize) image::Chain({*options.resize}, layout.value_or(image::Layout::hwc));  // refuses bad sizes
  }
  std::string name() const override { return "random_resized_crop"; }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey& key, uint32_t place) const override {
    Draws draws(key, place);
    Value picture = std::move(inputs[0]).with({}, layout_);
    const auto [rows, columns] = picture.size();
    std::vector<image::Stage> own{part(rows, columns, draws)};
    if (options_.resize) own.emplace_back(*options_.resize);
    return one(std::move(picture).with(own, layout_));
  }

 private:
  image::Crop part(int64_t rows, int64_t columns, Draws& draws) const {
    const double area = static_cast<double>(rows) * static_cast<double>(columns);
    const Distribution areas{Distribution::Kind::uniform, options_.least_area, options_.most_area};
    const Distribution ratios{Distribution::Kind::log_uniform, options_.least_ratio, options_.most_ratio};
    for (int64_t attempt = 0; attempt < options_.attempts; ++attempt) {
      const double target = area * areas.draw(draws), ratio = ratios.draw(draws);
      const int64_t width = std::llround(std::sqrt(target * ratio)), height = std::llround(std::sqrt(target / ratio));
      if (width < 1 || height < 1 || width > columns || height > rows) continue;
      const int64_t y = draws.below(rows - height + 1), x = draws.below(columns - width + 1);
      return {.height = height, .width = width, .y = y, .x = x};
    }
    const double ratio = static_cast<double>(columns) / static_cast<double>(rows);
    int64_t height = rows, width = columns;
    if (ratio < options_.least_ratio) height = std::llround(static_cast<double>(columns) / options_.least_ratio);
    if (ratio > options_.most_ratio) width = std::llround(static_cast<double>(rows) * options_.most_ratio);
    return {.height = std::clamp<int64_t>(height, 1, rows), .width = std::clamp<int64_t>(width, 1, columns)};
  }

  RandomResizedCrop options_;
  std::optional<image::Layout> layout_;
};

class OneOf final : public Operation {
 public:
  OneOf(std::vector<std::vector<OperationHandle>> choices, std::vector<double> probabilities)
      : choices_(std::move(choices)), probabilities_(std::move(probabilities)) {
    if (choices_.size() != probabilities_.size() || choices_.empty())
      throw ValueError("one_of: there are " + std::to_string(choices_.size()) + " choices and " +
                       std::to_string(probabilities_.size()) + " probabilities");
    for (const double p : probabilities_) {
      if (!(p >= 0 && p <= 1)) throw ValueError("one_of: a probability is 0 to 1, not " + image::number_text(p));
    }
    for (const OperationHandle* part : parts()) {
      if (!*part || (*part)->outputs() != 1 || (*part)->inputs() > 1)
        throw ValueError("one_of: its operations have one input and one output");
      calls_functions_ |= (*part)->calls_functions();
    }
    const double sum = std::reduce(probabilities_.begin(), probabilities_.end());
    if (sum > 1 + 1e-9)
      throw ValueError("one_of: the probabilities sum to " + image::number_text(sum) + ", more than 1");
  }
  std::string name() const override { return "one_of"; }
  std::vector<const OperationHandle*> parts() const override {
    std::vector<const OperationHandle*> parts;
    for (const auto& choice : choices_) {
      for (const OperationHandle& operation : choice) parts.push_back(&operation);
    }
    return parts;
  }
  bool calls_functions() const override { return calls_functions_; }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey& key, uint32_t place) const override {
    double rest = Draws(key, place).uniform();
    std::vector<Value> value = one(std::move(inputs[0]));
    for (size_t k = 0; k < choices_.size(); ++k) {
      if (rest >= probabilities_[k]) {
        rest -= probabilities_[k];
        continue;
      }
      uint32_t inner = (place + 1) * 0x01000193u + static_cast<uint32_t>(k) * 0x10001u;
      for (const OperationHandle& operation : choices_[k]) value = operation->run(value, key, ++inner);
      break;
    }
    return value;
  }

 private:
  std::vector<std::vector<OperationHandle>> choices_;
  std::vector<double> probabilities_;
  bool calls_functions_ = false;
};

class Draw final : public Operation {
 public:
  Draw(Distribution distribution, std::optional<Dims> shape, std::optional<uint64_t> seed)
      : distribution_(std::move(distribution)), shape_(shape.value_or(Dims{})), seed_(seed) {
    distribution_.check("draw");
    count_ = count(shape_);
  }
  std::string name() const override { return "draw"; }
  size_t inputs() const override { return 0; }
  std::vector<Value> run(std::span<Value>, const SampleKey& key, uint32_t place) const override {
    SampleKey own = key;
    if (seed_) own.seed = *seed_;
    Draws draws(own, place);
    const Array numbers = Array::empty(shape_, Dtype::float32, cpu());
    auto* const data = static_cast<float*>(numbers.data());
    for (int64_t k = 0; k < count_; ++k) data[k] = static_cast<float>(distribution_.draw(draws));
    return one(numbers);
  }

 private:
  Distribution distribution_;
  Dims shape_;
  int64_t count_;
  std::optional<uint64_t> seed_;
};

class Constant final : public Operation {
 public:
  explicit Constant(Array value) : value_(std::move(value)) {}
  std::string name() const override { return "constant"; }
  size_t inputs() const override { return 0; }
  std::vector<Value> run(std::span<Value>, const SampleKey&, uint32_t) const override { return one(value_); }

 private:
  Array value_;
};

class Call final : public Operation {
 public:
  Call(std::string name, Function function, int outputs)
      : name_(std::move(name)), function_(std::move(function)), outputs_(outputs) {
    if (outputs < 1) throw ValueError("pipeline: a function has at least 1 output, not " + std::to_string(outputs));
  }
  std::string name() const override { return name_; }
  int outputs() const override { return outputs_; }
  size_t inputs() const override { return 0; }
  bool calls_functions() const override { return true; }
  std::vector<Value> run(std::span<Value> inputs, const SampleKey& key, uint32_t place) const override {
    std::vector<Array> arrays;
    for (const Value& input : inputs) arrays.push_back(input.own_array());
    Draws draws(key, place);
    std::vector<Array> results = function_(arrays, key, draws);
    if (std::ssize(results) != outputs_)
      throw ValueError(name_ + " gave " + std::to_string(results.size()) + " arrays, not " + std::to_string(outputs_));
    return {results.begin(), results.end()};
  }

 private:
  std::string name_;
  Function function_;
  int outputs_;
};

}  // namespace

OperationHandle decode(const image::DecodeOptions& options) { return std::make_shared<Decode>(options); }
OperationHandle stages(std::vector<image::Stage> stages, std::vector<Binding> bindings,
                       std::optional<image::Layout> layout) {
  return std::make_shared<Stages>(std::move(stages), std::move(bindings), layout);
}
OperationHandle crop_at(int64_t height, int64_t width, Parameter y, Parameter x, Rounding rounding,
                        std::optional<image::Layout> layout) {
  return std::make_shared<CropAt>(height, width, std::move(y), std::move(x), rounding, layout);
}
OperationHandle random_resized_crop(const RandomResizedCrop& options, std::optional<image::Layout> layout) {
  return std::make_shared<ResizedCrop>(options, layout);
}
OperationHandle one_of(std::vector<std::vector<OperationHandle>> choices, std::vector<double> probabilities) {
  return std::make_shared<OneOf>(std::move(choices), std::move(probabilities));
}
OperationHandle draw(Distribution distribution, std::optional<Dims> shape, std::optional<uint64_t> seed) {
  return std::make_shared<Draw>(std::move(distribution), shape, seed);
}
OperationHandle constant(Array value) { return std::make_shared<Constant>(std::move(value)); }
OperationHandle function(std::string name, Function function, int outputs) {
  return std::make_shared<Call>(std::move(name), std::move(function), outputs);
}

}  // namespace iruka::pipeline
