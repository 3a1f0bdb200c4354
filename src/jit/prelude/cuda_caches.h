// Loads and stores with a cache hint. Only texts that may use them include this header, because it takes a twentieth of
// a small kernel's compile time.
#pragma once

#include "target.h"

// A plain parameter is a copy in registers, which an instruction for global memory must not address. The compiler knows
// the kind of an address, so the check costs nothing at run time. bool, float16 and complex have no built-in function.
// These are macros, so that overloads in a preamble are found, too.
#define IRUKA_LOAD(name)                                      \
  template <class T> IRUKA_INLINE T iruka##name(const T* p) { \
    if constexpr (requires { name(p); })                      \
      return __isGlobal(p) ? name(p) : *p;                    \
    else                                                      \
      return *p;                                              \
  }
#define IRUKA_STORE(name)                                                                 \
  template <iruka::Mutable T> IRUKA_INLINE void iruka##name(T* p, iruka::Same<T> value) { \
    if constexpr (requires { name(p, value); }) {                                         \
      if (__isGlobal(p)) return name(p, value);                                           \
    }                                                                                     \
    *p = value;                                                                           \
  }
IRUKA_LOAD(__ldg)
IRUKA_LOAD(__ldca)
IRUKA_LOAD(__ldcg)
IRUKA_LOAD(__ldcs)
IRUKA_LOAD(__ldlu)
IRUKA_LOAD(__ldcv)
IRUKA_STORE(__stwb)
IRUKA_STORE(__stcg)
IRUKA_STORE(__stcs)
IRUKA_STORE(__stwt)
#undef IRUKA_LOAD
#undef IRUKA_STORE
#define __ldg iruka__ldg
#define __ldca iruka__ldca
#define __ldcg iruka__ldcg
#define __ldcs iruka__ldcs
#define __ldlu iruka__ldlu
#define __ldcv iruka__ldcv
#define __stwb iruka__stwb
#define __stcg iruka__stcg
#define __stcs iruka__stcs
#define __stwt iruka__stwt
