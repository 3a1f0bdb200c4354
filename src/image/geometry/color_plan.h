// Stages of colours as steps of a pass.
#pragma once

#include <concepts>
#include <vector>

#include "core/resampling.h"
#include "image/geometry/plan.h"
#include "iruka/picture_color.h"

namespace iruka::image {

template <class T>
concept ColorStage = std::same_as<T, ConvertColor> || std::same_as<T, Brightness> || std::same_as<T, Contrast> ||
                     std::same_as<T, Saturation> || std::same_as<T, Hue> || std::same_as<T, Gamma> ||
                     std::same_as<T, ColorMatrix> || std::same_as<T, Lookup>;

/// Raise ValueError and TypeError for stages that no picture could pass.
void check_color(const ConvertColor& stage);
void check_color(const Brightness& stage);
void check_color(const Contrast& stage);
void check_color(const Saturation& stage);
void check_color(const Hue& stage);
void check_color(const Gamma& stage);
void check_color(const ColorMatrix& stage);
void check_color(const Lookup& stage);

/// The steps of a stage for a picture of this shape and dtype, which become those of the result. Raises ValueError and
/// TypeError for a picture that the stage does not take.
std::vector<PointStep> color_steps(const ConvertColor& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const Brightness& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const Contrast& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const Saturation& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const Hue& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const Gamma& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const ColorMatrix& stage, PictureShape& shape, Dtype& dtype);
std::vector<PointStep> color_steps(const Lookup& stage, PictureShape& shape, Dtype& dtype);

}  // namespace iruka::image
