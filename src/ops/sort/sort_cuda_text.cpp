#include "ops/sort/sort_cuda_text.h"

#include <algorithm>

#include "ops/kernel_text.h"

namespace iruka::ops {
namespace {

// Bytes of shared memory in which a pass keeps keys and indices, besides its counters.
constexpr int kExchangeBytes = 44 << 10;
// With more items, keys, indices and ranks do not fit in the registers that two blocks of a multiprocessor have.
constexpr int kMostKeys = 20, kMostPairs = 14;

/// Bits of a real part's mantissa; 0 for integers.
int mantissa(Dtype dtype) {
  switch (real_dtype(dtype)) {
    case Dtype::float16: return 10;
    case Dtype::bfloat16: return 7;
    case Dtype::float32: return 23;
    case Dtype::float64: return 52;
    default: return 0;
  }
}

/// The struct Sort of kernels/cuda: keys, indices and constants.
std::string sort_text(const SortVariant& variant, int threads) {
  const Dtype dtype = variant.dtype;
  const char* const flip = variant.descending ? "~" : "";
  const std::string keys = is_complex(dtype) ? "ComplexKeys" : mantissa(dtype) ? "FloatKeys" : "IntegerKeys";
  const std::string word = dtype == Dtype::complex64    ? "Key(Sort::high_word(x)) << 32 | Sort::low_word(x)"
                           : dtype == Dtype::complex128 ? variant.word == 0 ? "Sort::low_word(x)" : "Sort::high_word(x)"
                           : variant.has_index          ? "Sort::equal_key(x)"
                                                        : "Sort::key(x)";
  return "struct Format {\n" + using_text("Bits", unsigned_type(itemsize(real_dtype(dtype)))) +
         using_text("Key", unsigned_type(variant.key_bytes())) +
         using_text("Index", unsigned_type(std::max(variant.index_bytes(), 4))) +
         using_text("Count", unsigned_type(variant.is_wide ? 8 : 4)) +
         constant_text("int", "kMantissa", mantissa(dtype)) + constant_text("int", "kPasses", variant.passes()) +
         constant_text("int", "kItems", variant.items()) + constant_text("int", "kThreads", threads) +
         constant_text("int", "kSlots", kShortSlots) + constant_text("int", "kChunk", kCountedElements) +
         constant_text("bool", "kIsBool", dtype == Dtype::bool_) +
         constant_text("bool", "kIsSigned", kind(dtype) == Kind::signed_integer) +
         constant_text("bool", "kHasIndex", variant.has_index) + "};\nstruct Sort : iruka::sorting::" + keys +
         "<Format> {\nstatic inline Key key_of(X x) { return Key(" + flip + "(" + word + ")); }\n" +
         // Keys are converted back to elements only if there are no indices; with indices, the function is declared but
         // not called.
         (variant.has_index
              ? "static inline X element_of(Key) { return X{}; }\n"
              : std::string("static inline X element_of(Key key) { return bits_of(Key(") + flip + "key)); }\n") +
         "};\n";
}

}  // namespace

int SortVariant::key_bytes() const { return is_complex(dtype) ? 8 : static_cast<int>(itemsize(dtype)); }

int SortVariant::items() const {
  return std::min(has_index ? kMostPairs : kMostKeys, kExchangeBytes / (kRadixThreads * (key_bytes() + index_bytes())));
}

std::string sort_short_rows_text(const SortVariant& variant) {
  return include_text("sort", "cuda/keys") + include_text("sort", "cuda/short_rows") +
         sort_text(variant, kShortThreads) +
         grid_entry_text("iruka::sorting::sort_short_rows<Sort>", "iruka::sorting::ShortRows", kShortThreads);
}

std::string sort_histogram_text(const SortVariant& variant) {
  return include_text("sort", "cuda/keys") + include_text("sort", "cuda/radix_histogram") +
         sort_text(variant, kRadixThreads) +
         grid_entry_text("iruka::sorting::count_digits<Sort>", "iruka::sorting::HistogramArguments<Sort::Count>",
                         kRadixThreads);
}

std::string sort_pass_text(const SortVariant& variant) {
  constexpr int64_t kBlocksAtOnce = 2;  ///< of a multiprocessor
  return include_text("sort", "cuda/keys") + include_text("sort", "cuda/radix_pass") +
         sort_text(variant, kRadixThreads) +
         grid_entry_text("iruka::sorting::sort_pass<Sort>", "iruka::sorting::PassArguments<Sort::Count>", kRadixThreads,
                         kBlocksAtOnce);
}

}  // namespace iruka::ops
