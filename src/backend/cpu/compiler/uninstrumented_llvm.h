// Included in front of each file of a build with AddressSanitizer: LLVM as it is installed is not instrumented.
//
// LLVM's headers take it for instrumented when the file that includes them is. What they would then poison is used, and
// never unpoisoned, by the code of LLVM that was compiled without.
#pragma once

#include <llvm/Support/Compiler.h>

#undef LLVM_ADDRESS_SANITIZER_BUILD
#define LLVM_ADDRESS_SANITIZER_BUILD 0
#define __asan_poison_memory_region(address, size)
#define __asan_unpoison_memory_region(address, size)
