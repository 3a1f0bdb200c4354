#include "backend/cpu/compiler/saving_poll.h"

#include "backend/cpu/compiler/host.h"
#include "backend/cpu/compiler/symbols.h"

#if defined(__x86_64__) && defined(__linux__)

extern "C" {
[[gnu::visibility("hidden"), gnu::used]] unsigned iruka_poll() noexcept { return iruka::cpu_backend::cancel_poll(); }
[[gnu::visibility("hidden")]] void iruka_saving_poll_16();
[[gnu::visibility("hidden")]] void iruka_saving_poll_32();
[[gnu::visibility("hidden")]] void iruka_saving_poll_64();
}

// The integer registers are those that a callee may change; of the vector registers it may change all.
asm(R"(
  .macro iruka_saving_poll bytes, room
  .pushsection .text, "ax", @progbits
  .p2align 4
  .hidden iruka_saving_poll_\bytes
  .globl iruka_saving_poll_\bytes
  .type iruka_saving_poll_\bytes, @function
iruka_saving_poll_\bytes:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  push %rcx
  push %rdx
  push %rsi
  push %rdi
  push %r8
  push %r9
  push %r10
  push %r11
  sub $\room, %rsp
  and $-64, %rsp
  iruka_vectors_\bytes save
  call iruka_poll
  iruka_vectors_\bytes restore
  lea -64(%rbp), %rsp
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rdi
  pop %rsi
  pop %rdx
  pop %rcx
  pop %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size iruka_saving_poll_\bytes, . - iruka_saving_poll_\bytes
  .popsection
  .endm

  .macro iruka_move way, instruction, register, offset
  .ifc \way, save
  \instruction \register, \offset(%rsp)
  .else
  \instruction \offset(%rsp), \register
  .endif
  .endm

  .macro iruka_vectors_16 way
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  iruka_move \way, movaps, %xmm\n, 16*\n
  .endr
  .endm

  .macro iruka_vectors_32 way
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  iruka_move \way, vmovaps, %ymm\n, 32*\n
  .endr
  .ifc \way, save
  vzeroupper
  .endif
  .endm

  .macro iruka_vectors_64 way
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  iruka_move \way, vmovaps, %zmm\n, 64*\n
  .endr
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  iruka_move \way, kmovq, %k\n, 2048+8*\n
  .endr
  .ifc \way, save
  vzeroupper
  .endif
  .endm

  iruka_saving_poll 16, 256
  iruka_saving_poll 32, 512
  iruka_saving_poll 64, 2112

  .purgem iruka_saving_poll
  .purgem iruka_move
  .purgem iruka_vectors_16
  .purgem iruka_vectors_32
  .purgem iruka_vectors_64
)");

namespace iruka::cpu_backend {

void* saving_cancel_poll() {
  const int bytes = host().vector_bytes;
  return reinterpret_cast<void*>(bytes >= 64   ? &iruka_saving_poll_64
                                 : bytes >= 32 ? &iruka_saving_poll_32
                                               : &iruka_saving_poll_16);
}

}  // namespace iruka::cpu_backend

#else

namespace iruka::cpu_backend {

void* saving_cancel_poll() { return nullptr; }

}  // namespace iruka::cpu_backend

#endif
