#include "ops/sort/sort_cuda_text.h"

#include <algorithm>

#include "ops/sort/kernel_texts.h"

namespace iruka::ops {
namespace {

// Memory of a block that a pass keeps keys and indices in, beside what it counts in.
constexpr int kExchangeBytes = 44 << 10;
// More, and their keys, indices and ranks leave the registers that two blocks of a multiprocessor have.
constexpr int kMostKeys = 20, kMostPairs = 14;

std::string number(int64_t value) { return std::to_string(value); }

std::string unsigned_type(int64_t bytes) {
  return bytes == 1   ? "unsigned char"
         : bytes == 2 ? "unsigned short"
         : bytes == 4 ? "unsigned int"
                      : "unsigned long long";
}

/// Bits of a real part's mantissa; 0 for integers.
int mantissa(Dtype dtype) {
  switch (real_dtype(dtype)) {
    case Dtype::float16:
      return 10;
    case Dtype::bfloat16:
      return 7;
    case Dtype::float32:
      return 23;
    case Dtype::float64:
      return 52;
    default:
      return 0;
  }
}

std::string keys_text(const SortVariant& variant) {
  const Dtype dtype = variant.dtype;
  const bool is_complex = kind(dtype) == Kind::complex;
  const int64_t bytes = itemsize(real_dtype(dtype));
  std::string text = "using Bits = " + unsigned_type(bytes) + ";\nusing Key = " + unsigned_type(variant.key_bytes()) +
                     ";\nusing Index = " + unsigned_type(std::max(variant.index_bytes(), 4)) +
                     ";\nusing Count = " + unsigned_type(variant.is_wide ? 8 : 4) +
                     ";\nconstexpr Bits kSign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));\n" +
                     "[[maybe_unused]] constexpr int kMantissa = " + number(mantissa(dtype)) +
                     ", kPasses = " + number(variant.passes()) + ", kItems = " + number(variant.items()) + ";\n" +
                     "[[maybe_unused]] constexpr bool kIsBool = " + (dtype == Dtype::bool_ ? "true" : "false") +
                     ", kIsSigned = " + (kind(dtype) == Kind::signed_integer ? "true" : "false") +
                     ", kHasIndex = " + (variant.has_index ? "true" : "false") + ";\n";
  text += mantissa(dtype) ? kernels::float_keys : kernels::integer_keys;
  if (is_complex) text += kernels::complex_keys;
  text += std::string("using X = ") + (is_complex ? "Element" : "Bits") + ";\ninline Key key_of(X x) { return Key(" +
          (variant.descending ? "~" : "") + "(";
  if (dtype == Dtype::complex64)
    text += "Key(high_word(x)) << 32 | low_word(x)";
  else if (dtype == Dtype::complex128)
    text += variant.word == 0 ? "low_word(x)" : "high_word(x)";
  else
    text += variant.has_index ? "equal_key(x)" : "key(x)";
  text += ")); }\n";
  // Only keys alone become elements again; with indices the function is named and not called.
  text += variant.has_index ? "inline X element_of(Key) { return X{}; }\n"
                            : std::string("inline X element_of(Key key) { return bits_of(Key(") +
                                  (variant.descending ? "~" : "") + "key)); }\n";
  return text;
}

}  // namespace

int SortVariant::key_bytes() const { return kind(dtype) == Kind::complex ? 8 : static_cast<int>(itemsize(dtype)); }

int SortVariant::items() const {
  return std::min(has_index ? kMostPairs : kMostKeys, kExchangeBytes / (kRadixThreads * (key_bytes() + index_bytes())));
}

std::string sort_short_rows_text(const SortVariant& variant) { return keys_text(variant) + kernels::short_rows; }
std::string sort_histogram_text(const SortVariant& variant) { return keys_text(variant) + kernels::radix + kernels::radix_histogram; }
std::string sort_pass_text(const SortVariant& variant) { return keys_text(variant) + kernels::radix + kernels::radix_pass; }

}  // namespace iruka::ops
