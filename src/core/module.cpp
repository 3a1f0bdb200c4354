#include "core/module.h"

#include <algorithm>

#include "iruka/error.h"

namespace iruka {
namespace {

[[noreturn]] void throw_without_attributes(const std::string& name) {
  throw DeviceError("function '" + name + "': only functions for a grid of thread blocks have attributes");
}

}  // namespace

FunctionAttributes Function::attributes() const { throw_without_attributes(name_); }
void Function::set_max_dynamic_shared_size_bytes(int /*bytes*/) const { throw_without_attributes(name_); }
void Function::set_preferred_shared_memory_carveout(int /*percent*/) const { throw_without_attributes(name_); }

void Module::throw_missing(const std::string& kind, const std::string& name,
                           const std::vector<std::string>& existing) const {
  std::vector<std::string> names = existing;
  std::ranges::sort(names);
  std::string message = "module '" + name_ + "' has no " + kind + " '" + name + "'";
  if (!names.empty()) message += "; it has";
  for (size_t k = 0; k < names.size(); ++k) message += (k == 0 ? " '" : ", '") + names[k] + "'";
  throw DeviceError(message);
}

}  // namespace iruka
