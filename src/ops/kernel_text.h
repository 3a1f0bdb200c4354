// The generated lines of a kernel's text: the headers of kernel code that it includes, types, constants, and its entry.
#pragma once

#include <cstdint>
#include <string>

namespace iruka::ops {

/// Includes HEADER.h of ops/FAMILY/kernels.
std::string include_text(const std::string& family, const std::string& header);
/// The same, and names what it declares in the namespace iruka::NAMESPACE.
std::string header_text(const std::string& family, const std::string& header, const std::string& name_space);
/// "using NAME = TYPE;\n".
std::string using_text(const char* name, const std::string& type);
/// "static constexpr TYPE NAME = VALUE;\n".
std::string constant_text(const char* type, const char* name, int64_t value);
/// The unsigned type of this many bytes.
std::string unsigned_type(int64_t bytes);

/// The entry of a GPU's kernel, which does nothing but CALL(arguments, begin, end). `threads` of a block, where at
/// least `blocks` share a multiprocessor if that is not 0.
std::string grid_entry_text(const std::string& call, const std::string& arguments, int64_t threads, int64_t blocks = 0);

}  // namespace iruka::ops
