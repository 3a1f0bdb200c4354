// The memory of a batch's intermediate arrays: of the OS thread, given back when the kernel's entry returns.
#pragma once

extern "C" void* iruka_take_memory(size_t bytes) noexcept;  ///< null where there is none, which ends the call
