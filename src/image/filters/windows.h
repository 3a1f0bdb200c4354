// Filters as windows that move over a picture, one after the other.
#pragma once

#include <memory>
#include <vector>

#include "core/filtering.h"
#include "iruka/picture_filters.h"

namespace iruka::image {

/// One window on its way over a picture.
struct FilterStage {
  std::shared_ptr<const FilterWindow> window;
  Dtype dtype = Dtype::uint8;  ///< of the result
  Border border = Border::reflect;
  std::vector<float> outside{0};  ///< values of constants, of the picture's dtype
  /// Whether it reads the first picture; then the result of the stage before is kept.
  bool reads_picture = false;
  /// What is made of the result: a difference from the first picture, or from the result that was kept.
  Filtering::Difference difference = Filtering::Difference::none;
  bool differs_from_picture = true;
};

/// Raises ValueError for a filter that is none, TypeError for a dtype that it does not have.
std::vector<FilterStage> filter_stages(const PictureFilter& filter, Dtype dtype);

}  // namespace iruka::image
