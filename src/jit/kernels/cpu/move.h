// Copies the bytes, because accesses by another type would break C++'s aliasing rules.
#pragma once

template <class T> static inline void iruka_move(void* to, const void* from) { __builtin_memcpy(to, from, sizeof(T)); }
