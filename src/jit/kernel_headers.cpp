#include "jit/kernel_headers.h"

#include <algorithm>

namespace iruka::jit {

std::vector<std::string_view> with_included(std::string_view text) {
  constexpr std::string_view kInclude = "#include \"";
  std::vector<std::string_view> texts = {text}, names = {""};
  for (size_t k = 0; k < texts.size(); ++k) {
    const std::string_view from = texts[k];
    for (size_t at = from.find(kInclude); at != from.npos; at = from.find(kInclude, at)) {
      at += kInclude.size();
      const std::string_view name = from.substr(at, from.find('"', at) - at);
      if (!is_kernel_code(name) || std::ranges::find(names, name) != names.end()) continue;
      for (const auto& [header, code] : kernel_headers())
        if (header == name) names.push_back(header), texts.push_back(code);
    }
  }
  return texts;
}

}  // namespace iruka::jit
