#include "image/numbers.h"

#include <charconv>
#include <cmath>

#include "iruka/error.h"

namespace iruka::image {

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

float finite_float(const std::string& function, const std::string& what, double value) {
  const auto made = static_cast<float>(value);
  if (std::isfinite(made)) return made;
  throw ValueError(function + ": " + what + " must be finite in float32, not " + number_text(value));
}

float element_of(const std::string& function, const std::string& what, double value, Dtype dtype) {
  const double most = dtype == Dtype::uint8 ? 255 : 65535;
  bool is_held = !is_integer(dtype) || (value >= 0 && value <= most && value == std::floor(value));
  const float made = is_held ? static_cast<float>(Scalar(value).as_element(dtype).as_double()) : 0;
  is_held = is_held && (std::isfinite(made) || !std::isfinite(value));
  if (is_held) return made;
  throw ValueError(function + ": " + what + " " + number_text(value) + " is no " + name(dtype));
}

}  // namespace iruka::image
