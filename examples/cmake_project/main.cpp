// Adds two arrays with a kernel written as a string.
#include <cstdio>
#include <exception>

#include "iruka/iruka.h"

int main() try {
  iruka::ElementwiseKernel mat_add("float32 x, float32 y", "float32 z", "z = x + y;", "mat_add");
  iruka::Array x = iruka::Array::from<float>({1, 2, 3});
  iruka::Array y = iruka::Array::from<float>({10, 20, 30});
  iruka::Array z = mat_add(x, y);
  for (float value : z.to_vector<float>()) std::printf("%g ", value);
  std::printf("\n");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
