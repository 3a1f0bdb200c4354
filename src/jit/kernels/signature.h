// A kernel's parameters as numbers in a name that both compilers give: the mangled name of
// `&iruka_signature<iruka_signature_of<decltype(kernel)>>`, a name expression. src/jit/raw_signature.h reads them.
// These are functions, because CUDA would put variables into the kernel's global memory.
#pragma once

namespace iruka {

template <class T> struct Typed {};

/// Anything but what the overloads below name: enumerations count as their integer.
template <class T> constexpr unsigned long type_code(Typed<T>) {
  if constexpr (__is_enum(T))
    return type_code(Typed<__underlying_type(T)>());
  else
    return 18;
}
/// void, then Iruka's dtypes in their order, then char and pointers.
constexpr unsigned long type_code(Typed<void>) { return 0; }
constexpr unsigned long type_code(Typed<bool>) { return 1; }
constexpr unsigned long type_code(Typed<signed char>) { return 2; }
constexpr unsigned long type_code(Typed<short>) { return 3; }
constexpr unsigned long type_code(Typed<int>) { return 4; }
constexpr unsigned long type_code(Typed<long>) { return 5; }
constexpr unsigned long type_code(Typed<long long>) { return 5; }
constexpr unsigned long type_code(Typed<unsigned char>) { return 6; }
constexpr unsigned long type_code(Typed<unsigned short>) { return 7; }
constexpr unsigned long type_code(Typed<unsigned>) { return 8; }
constexpr unsigned long type_code(Typed<unsigned long>) { return 9; }
constexpr unsigned long type_code(Typed<unsigned long long>) { return 9; }
constexpr unsigned long type_code(Typed<float16>) { return 10; }
constexpr unsigned long type_code(Typed<bfloat16>) { return 11; }
constexpr unsigned long type_code(Typed<float>) { return 12; }
constexpr unsigned long type_code(Typed<double>) { return 13; }
constexpr unsigned long type_code(Typed<complex<float>>) { return 14; }
constexpr unsigned long type_code(Typed<complex<double>>) { return 15; }
constexpr unsigned long type_code(Typed<char>) { return 16; }
template <class T> constexpr unsigned long type_code(Typed<T*>) { return 17; }

/// Bit 9 is set for a constant.
template <class T> constexpr unsigned long pointee_code(Typed<T>) { return type_code(Typed<T>()); }
template <class T> constexpr unsigned long pointee_code(Typed<const T>) { return 512 | type_code(Typed<T>()); }
template <class T> constexpr unsigned long pointee_code(Typed<volatile T>) { return type_code(Typed<T>()); }
template <class T> constexpr unsigned long pointee_code(Typed<const volatile T>) { return 512 | type_code(Typed<T>()); }

/// Bit 8 is set for a pointer, and the rest describes what it points to.
template <class T> constexpr unsigned long value_code(Typed<T>) { return type_code(Typed<T>()); }
template <class T> constexpr unsigned long value_code(Typed<T*>) { return 256 | pointee_code(Typed<T>()); }

template <class T> constexpr bool is_reference(Typed<T>) { return false; }
template <class T> constexpr bool is_reference(Typed<T&>) { return true; }
template <class T> constexpr bool is_reference(Typed<T&&>) { return true; }

/// From bit 16 the alignment, from bit 32 the size.
template <class T> constexpr unsigned long parameter_code() {
  static_assert(!is_reference(Typed<T>()), "a kernel's parameters are values and pointers, not references");
  return (unsigned long)sizeof(T) << 32 | (unsigned long)alignof(T) << 16 | value_code(Typed<T>());
}

template <unsigned long... codes> struct Codes {};
/// A variable has no parameters, but no kernel has a parameter of code 0.
template <class Function> struct CodesOf {
  using Type = Codes<0>;
};
template <class... P> struct CodesOf<void(P...)> {
  using Type = Codes<parameter_code<P>()...>;
};
template <class R, class... P> struct CodesOf<R(P...)> {
  static_assert(is_same<R, void>, "a kernel returns void");
  using Type = Codes<0>;
};
template <class... P> struct CodesOf<void (*)(P...)> : CodesOf<void(P...)> {};
template <class... P> struct CodesOf<void(P...) noexcept> : CodesOf<void(P...)> {};

}  // namespace iruka

// These stand behind the user's text, whose macros apply to them.
template <class Function> using iruka_signature_of = typename iruka::CodesOf<Function>::Type;
template <class Codes> __device__ char iruka_signature = 0;
