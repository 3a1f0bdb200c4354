// Whatever type the memory is of: by bytes, as that is what may alias.
#pragma once

template <class T> static inline void iruka_move(void* to, const void* from) { __builtin_memcpy(to, from, sizeof(T)); }
