#include "ops/kernel_text.h"

namespace iruka::ops {

std::string include_text(const std::string& family, const std::string& header) {
  return "#include \"ops/" + family + "/kernels/" + header + ".h\"\n";
}

std::string header_text(const std::string& family, const std::string& header, const std::string& name_space) {
  return include_text(family, header) + "using namespace iruka::" + name_space + ";\n";
}

std::string using_text(const char* name, const std::string& type) {
  return std::string("using ") + name + " = " + type + ";\n";
}

std::string constant_text(const char* type, const char* name, int64_t value) {
  return std::string("static constexpr ") + type + " " + name + " = " + std::to_string(value) + ";\n";
}

std::string unsigned_type(int64_t bytes) {
  return bytes == 1   ? "unsigned char"
         : bytes == 2 ? "unsigned short"
         : bytes == 4 ? "unsigned int"
                      : "unsigned long long";
}

std::string grid_entry_text(const std::string& call, const std::string& arguments, int64_t threads, int64_t blocks) {
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
         (blocks ? ", " + std::to_string(blocks) : "") + ") iruka_entry(const " + arguments +
         " a, const ptrdiff_t begin, const ptrdiff_t end) {\n  " + call + "(a, begin, end);\n}\n";
}

}  // namespace iruka::ops
