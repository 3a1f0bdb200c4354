#include "pipeline/stage_fields.h"

#include <cmath>
#include <string_view>

#include "image/numbers.h"
#include "iruka/error.h"

namespace iruka::pipeline {
namespace {

/// `value` as an integer, rounded, ties away from zero.
int64_t whole(double value) {
  if (!(std::abs(value) < 0x1p62))
    throw ValueError("pipeline: a size or a place of a stage is a number of pixels, not " + image::number_text(value));
  return std::llround(value);
}

void set_element(std::vector<double>& numbers, int element, double value) {
  if (const auto count = static_cast<size_t>(element) + 1; numbers.size() < count)
    numbers.resize(count, numbers.empty() ? 0.0 : numbers.back());
  numbers[static_cast<size_t>(element)] = value;
}

struct Row {
  std::string_view name;
  int elements;
  bool (*has)(const image::Stage& stage);
  SetField set;
};

template <class T>
bool is(const image::Stage& stage) {
  return std::holds_alternative<T>(stage);
}
template <class T, auto member>
void set_number(image::Stage& stage, int, double value) {
  std::get<T>(stage).*member = value;
}
template <class T, auto member>
void set_switch(image::Stage& stage, int, double value) {
  std::get<T>(stage).*member = value != 0;
}
template <class T, auto member>
void set_list(image::Stage& stage, int element, double value) {
  set_element(std::get<T>(stage).*member, element, value);
}

constexpr int kChannels = 64;
constexpr Row kRows[] = {
    {"resize.size", 2, is<image::Resize>,
     [](image::Stage& stage, int element, double value) {
       auto& resize = std::get<image::Resize>(stage);
       (element == 0 ? resize.height : resize.width) = whole(value);
     }},
    {"crop.at", 2, is<image::Crop>,
     [](image::Stage& stage, int element, double value) {
       auto& crop = std::get<image::Crop>(stage);
       (element == 0 ? crop.y : crop.x) = whole(value);
     }},
    {"crop.size", 2, is<image::Crop>,
     [](image::Stage& stage, int element, double value) {
       auto& crop = std::get<image::Crop>(stage);
       (element == 0 ? crop.height : crop.width) = whole(value);
     }},
    {"pad.margins", 4, is<image::Pad>,
     [](image::Stage& stage, int element, double value) {
       auto& pad = std::get<image::Pad>(stage);
       int64_t* const margins[] = {&pad.top, &pad.bottom, &pad.left, &pad.right};
       *margins[element] = whole(value);
     }},
    {"flip.horizontal", 1, is<image::Flip>, set_switch<image::Flip, &image::Flip::horizontal>},
    {"flip.vertical", 1, is<image::Flip>, set_switch<image::Flip, &image::Flip::vertical>},
    {"rotate.angle", 1, is<image::Rotate>, set_number<image::Rotate, &image::Rotate::degrees>},
    {"warp.matrix", 9, is<image::Warp>,
     [](image::Stage& stage, int element, double value) {
       std::get<image::Warp>(stage).matrix[static_cast<size_t>(element)] = value;
     }},
    {"normalize.mean", kChannels, is<image::Normalize>, set_list<image::Normalize, &image::Normalize::mean>},
    {"normalize.std", kChannels, is<image::Normalize>, set_list<image::Normalize, &image::Normalize::deviation>},
    {"brightness.factor", 1, is<image::Brightness>, set_number<image::Brightness, &image::Brightness::factor>},
    {"contrast.factor", 1, is<image::Contrast>, set_number<image::Contrast, &image::Contrast::factor>},
    {"contrast.center", 1, is<image::Contrast>,
     [](image::Stage& stage, int, double value) { std::get<image::Contrast>(stage).center = value; }},
    {"saturation.factor", 1, is<image::Saturation>, set_number<image::Saturation, &image::Saturation::factor>},
    {"hue.degrees", 1, is<image::Hue>, set_number<image::Hue, &image::Hue::degrees>},
    {"gamma.gamma", 1, is<image::Gamma>, set_number<image::Gamma, &image::Gamma::gamma>},
    {"gamma.gain", 1, is<image::Gamma>, set_number<image::Gamma, &image::Gamma::gain>},
};

}  // namespace

SetField find_field(const image::Stage& stage, const std::string& field, int element) {
  for (const Row& row : kRows) {
    if (row.name != field || !row.has(stage)) continue;
    if (element < 0 || element >= row.elements)
      throw ValueError("pipeline: " + field + " has " + std::to_string(row.elements) + " numbers, so none " +
                       std::to_string(element));
    return row.set;
  }
  throw ValueError("pipeline: '" + field + "' is no number of this stage that can change from sample to sample");
}

}  // namespace iruka::pipeline
