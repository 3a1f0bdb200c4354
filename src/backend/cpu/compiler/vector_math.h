// The vectoriser's map from C math functions to SLEEF's, and the addresses of SLEEF's functions.
#pragma once

#include <string_view>

namespace llvm {
class TargetLibraryInfoImpl;
}

namespace iruka::cpu_backend {

/// Registers with LLVM the vector functions of scalar ones on this host.
void add_vector_math(llvm::TargetLibraryInfoImpl& library);

/// SLEEF's name of the scalar C function `name` ("expf" -> "Sleef_finz_expf1_u10purecfma"); null where SLEEF has none
/// that we use. Both names stay valid for ever.
const char* sleef_scalar_name(std::string_view name);

/// The address of one of SLEEF's functions that this table names; null for any other name.
void* sleef_address(std::string_view sleef_name);

}  // namespace iruka::cpu_backend
