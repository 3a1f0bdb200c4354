// jit links without any backend: a device of this program's own is given the text of a kernel and launches it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/array_operations.h"
#include "core/front_end.h"
#include "core/narrow_casts.h"
#include "host_device.h"
#include "iruka/kernel.h"

namespace iruka {
namespace {

/// A module whose functions all have its text as their name.
struct Code final : Module {
  explicit Code(std::string_view text) : Module("code"), only(std::string(text)) {}
  const Function& function(const std::string&) const override { return only; }
  GlobalVariable global(const std::string&) const override { return {}; }
  Function only;
};

/// Compiles a text to itself; a launch notes what it was given.
class TextDevice final : public testing::HostDevice {
 public:
  CompiledProgram compile(const ProgramSource& source) override { return {.ok = true, .code = source.text}; }
  CompiledProgram check(const ProgramSource&) override { return {.ok = true}; }
  std::shared_ptr<const Module> load(std::string_view code, const std::string&) override {
    return std::make_shared<Code>(code);
  }
  void launch(LaunchContext&, const Function& function, std::span<const std::byte>, const LaunchRange& range) override {
    launched = function.name();
    elements = range.count;
  }

  std::string launched;
  int64_t elements = 0;
};

TextDevice& text_device() {
  static auto& device = *new TextDevice;  // programs refer to it as long as the process lives
  return device;
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "jit_alone: %s\n", what);
  std::exit(1);
}

}  // namespace

Device& default_device() { return text_device(); }

constinit const ArrayOperations array_operations{};
const Implementations<const FrontEnd> FrontEnd::implementations{"checks of texts", {}};
const FrontEnd& FrontEnd::of_all_devices() {
  static const std::string name = "of this program";
  static constexpr FrontEnd takes_all{[]() -> const std::string& { return name; },
                                      [](const ProgramSource&) { return CompiledProgram{.ok = true}; }};
  return takes_all;
}
const Implementations<const NarrowCasts> NarrowCasts::implementations{"casts to narrow integers", {}};

}  // namespace iruka

int main() {
  using namespace iruka;
  const ElementwiseKernel add_one("float32 x", "float32 y", "y = x + 1", "add_one");
  const Array y = add_one(Array::from<float>({1, 2, 3}));
  expect(y.shape() == Dims{3}, "an output has the shape of the input");
  expect(text_device().elements == 3, "a launch runs over the elements");
  expect(text_device().launched.find("y = x + 1") != std::string::npos, "the text holds the operation");
}
