// Included in front of each file of a build with AddressSanitizer: LLVM as it is installed is not instrumented. LLVM's
// headers assume that LLVM is instrumented if the file that includes them is. They would then poison memory that LLVM's
// own uninstrumented code uses and never unpoisons.
#pragma once

#include <llvm/Support/Compiler.h>

#undef LLVM_ADDRESS_SANITIZER_BUILD
#define LLVM_ADDRESS_SANITIZER_BUILD 0
#define __asan_poison_memory_region(address, size)
#define __asan_unpoison_memory_region(address, size)
