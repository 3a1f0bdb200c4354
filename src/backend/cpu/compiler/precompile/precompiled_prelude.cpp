// Holds the precompiled prelude that the build made.
#include "backend/cpu/compiler/frontend.h"

asm(".section .rodata\n"
    ".balign 16\n"
    ".local iruka_prelude_begin\n"
    "iruka_prelude_begin:\n"
    ".incbin \"" IRUKA_PRECOMPILED_PRELUDE
    "\"\n"
    ".local iruka_prelude_end\n"
    "iruka_prelude_end:\n"
    ".byte 0\n"  // Clang reads to a zero
    ".previous\n");
extern "C" const char iruka_prelude_begin[], iruka_prelude_end[];

namespace iruka::cpu_backend {

std::string_view precompiled_prelude() {
  return {iruka_prelude_begin, static_cast<size_t>(iruka_prelude_end - iruka_prelude_begin)};
}

}  // namespace iruka::cpu_backend
