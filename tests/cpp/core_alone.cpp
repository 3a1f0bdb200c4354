// core links without jit, backends and array functions, but for what its users supply: a default device, and how
// elements are written.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/array_operations.h"
#include "core/layout.h"
#include "host_device.h"
#include "iruka/array.h"

namespace iruka {

Device& default_device() {
  static testing::HostDevice device;
  return device;
}

namespace {

/// Rows of floats, one element after the other.
void write_floats(const Array& source, const Array& target) {
  for (int64_t row = 0; row < source.shape(0); ++row)
    for (int64_t column = 0; column < source.shape(1); ++column)
      *static_cast<float*>(target.at(row, column).data()) = *static_cast<const float*>(source.at(row, column).data());
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "core_alone: %s\n", what);
  std::exit(1);
}

}  // namespace

constinit const ArrayOperations array_operations{write_floats};

}  // namespace iruka

int main() {
  using namespace iruka;
  const Array x = Array::from<float>({0, 1, 2, 3, 4, 5}).reshape({2, 3});
  const Array turned = x.transpose();
  expect(turned.shape() == Dims{3, 2} && turned.may_overlap(x), "a transpose is a view");
  const Array copied = turned.contiguous();
  expect(copied.is_c_contiguous() && !copied.may_overlap(x), "a copy has memory of its own");
  const float wanted[] = {0, 3, 1, 4, 2, 5};
  for (int k = 0; k < 6; ++k)
    expect(static_cast<const float*>(copied.data())[k] == wanted[k], "a copy has the view's elements in C order");
  try {
    x.reshape({4});
    expect(false, "six elements are no four");
  } catch (const ShapeError&) {
  }
}
