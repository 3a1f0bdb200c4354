#include "backend/cpu/compiler/vector_math.h"

#include <dlfcn.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/host.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

extern "C" float Sleef_expf1_u10purec(float);

namespace iruka::cpu_backend {
namespace {

struct MathFunction {
  const char* name;      ///< C's double function
  const char* accuracy;  ///< SLEEF's suffix: "u10" is 1.0 ulp
  int arity;
  const char* intrinsic;  ///< LLVM's intrinsic, or null
};

constexpr MathFunction kFunctions[] = {
    {"exp", "u10", 1, "llvm.exp"},     {"exp2", "u10", 1, "llvm.exp2"}, {"exp10", "u10", 1, "llvm.exp10"},
    {"expm1", "u10", 1, nullptr},      {"log", "u10", 1, "llvm.log"},   {"log2", "u10", 1, "llvm.log2"},
    {"log10", "u10", 1, "llvm.log10"}, {"log1p", "u10", 1, nullptr},    {"sin", "u10", 1, "llvm.sin"},
    {"cos", "u10", 1, "llvm.cos"},     {"tan", "u10", 1, "llvm.tan"},   {"asin", "u10", 1, "llvm.asin"},
    {"acos", "u10", 1, "llvm.acos"},   {"atan", "u10", 1, "llvm.atan"}, {"atan2", "u10", 2, "llvm.atan2"},
    {"sinh", "u10", 1, "llvm.sinh"},   {"cosh", "u10", 1, "llvm.cosh"}, {"tanh", "u10", 1, "llvm.tanh"},
    {"asinh", "u10", 1, nullptr},      {"acosh", "u10", 1, nullptr},    {"atanh", "u10", 1, nullptr},
    {"pow", "u10", 2, "llvm.pow"},     {"cbrt", "u10", 1, nullptr},     {"hypot", "u05", 2, nullptr},
    {"erf", "u10", 1, nullptr},        {"erfc", "u15", 1, nullptr},     {"tgamma", "u10", 1, nullptr},
    {"lgamma", "u10", 1, nullptr},
    // fmod is missing, because SLEEF's version gives NaN where the quotient is very large.
};

/// All names that VecDesc refers to; they are never freed.
struct Tables {
  std::vector<llvm::VecDesc> descriptions;
  std::unordered_map<std::string, std::string> scalar_names;  ///< C's name -> SLEEF's
  std::unordered_map<std::string, void*> addresses;           ///< SLEEF's name -> its code
  std::vector<std::string*> texts;
  const char* keep(std::string text) { return texts.emplace_back(new std::string(std::move(text)))->c_str(); }
};

/// The library that contains SLEEF; a wheel may have renamed its file.
void* sleef_library() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&Sleef_expf1_u10purec), &info)) return nullptr;
  return dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

std::string sleef_name(const MathFunction& function, bool single, int lanes, const char* isa) {
  return std::string("Sleef_") + host().sleef.prefix + "_" + function.name + (single ? "f" : "d") +
         std::to_string(lanes) + "_" + function.accuracy + isa;
}

void add_function(Tables& tables, void* library, const MathFunction& function, bool single) {
  const auto& variant = host().sleef;
  const std::string scalar = sleef_name(function, single, 1, variant.scalar_isa);
  void* address = dlsym(library, scalar.c_str());
  if (!address) return;
  tables.addresses.emplace(scalar, address);
  const char* c_name = tables.keep(std::string(function.name) + (single ? "f" : ""));
  tables.scalar_names.emplace(c_name, scalar);
  for (const auto& width : variant.widths) {
    const int lanes = width.bytes / (single ? 4 : 8);
    const char* name = tables.keep(sleef_name(function, single, lanes, width.isa));
    void* vector_address = dlsym(library, name);
    if (!vector_address) continue;
    tables.addresses.emplace(name, vector_address);
    const char* abi = tables.keep("_ZGV_LLVM_N" + std::to_string(lanes) + std::string(function.arity, 'v'));
    const auto count = llvm::ElementCount::getFixed(static_cast<unsigned>(lanes));
    tables.descriptions.emplace_back(c_name, name, count, false, abi, std::nullopt);
    if (function.intrinsic) {
      const char* intrinsic = tables.keep(std::string(function.intrinsic) + (single ? ".f32" : ".f64"));
      tables.descriptions.emplace_back(intrinsic, name, count, false, abi, std::nullopt);
    }
  }
}

const Tables& tables() {
  static const Tables& built = *[] {
    auto* result = new Tables;
    if (void* library = sleef_library()) {
      for (const auto& function : kFunctions) {
        add_function(*result, library, function, true);
        add_function(*result, library, function, false);
      }
    }
    return result;
  }();
  return built;
}

}  // namespace

void add_vector_math(llvm::TargetLibraryInfoImpl& library) { library.addVectorizableFunctions(tables().descriptions); }

const char* sleef_scalar_name(std::string_view name) {
  const auto found = tables().scalar_names.find(std::string(name));
  return found == tables().scalar_names.end() ? nullptr : found->second.c_str();
}

void* vector_function(std::string_view name, bool is_single, int64_t bytes) {
  for (const MathFunction& function : kFunctions) {
    if (function.name != name) continue;
    for (const auto& width : host().sleef.widths)
      if (width.bytes == bytes)
        return sleef_address(sleef_name(function, is_single, width.bytes / (is_single ? 4 : 8), width.isa));
  }
  return nullptr;
}

void* sleef_address(std::string_view sleef_name) {
  const auto found = tables().addresses.find(std::string(sleef_name));
  return found == tables().addresses.end() ? nullptr : found->second;
}

}  // namespace iruka::cpu_backend
