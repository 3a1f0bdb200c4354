#include "float_errors.h"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "core/parallel.h"
#include "cuda.h"

namespace iruka::python {

namespace {

/// Functions that NumPy says nothing of, and that raise exceptions of NaN or infinity.
constexpr std::string_view kSilent[] = {"clip", "fmax",    "fmin", "frexp",      "heaviside", "max",    "maximum",
                                        "min",  "minimum", "modf", "nan_to_num", "nanmax",    "nanmin", "where"};

bool is_silent(std::string_view function) { return std::ranges::find(kSilent, function) != std::end(kSilent); }

/// Whether `is_found` is true of a word of x, which has no gaps. Whole blocks are compared by vectors.
template <class Word, class Predicate>
bool any_word(const Array& x, Predicate is_found) {
  const auto* words = static_cast<const Word*>(x.data());
  std::atomic<bool> found{false};
  parallel_for(x.nbytes() / static_cast<int64_t>(sizeof(Word)), 1 << 16, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 4096;
    for (; begin < end && !found.load(std::memory_order_relaxed); begin += kBlock) {
      unsigned any = 0;
      for (int64_t k = begin; k < std::min(end, begin + kBlock); ++k) any |= is_found(words[k]);
      if (any) found.store(true, std::memory_order_relaxed);
    }
  });
  return found.load(std::memory_order_relaxed);
}

/// Whether a word has all of these bits, which those of infinities and NaNs are.
template <class Word>
bool any_has(const Array& x, Word exponent) {
  return any_word<Word>(x, [=](Word word) { return (word & exponent) == exponent; });
}

Array without_gaps(const Array& x) { return x.is_f_contiguous() ? x : x.contiguous(); }

/// Whether an element of floats is infinite or NaN.
bool any_not_finite(const Array& array) {
  const Array x = without_gaps(array);
  switch (x.dtype()) {
    case Dtype::float16: return any_has<uint16_t>(x, 0x7C00);
    case Dtype::bfloat16: return any_has<uint16_t>(x, 0x7F80);
    case Dtype::float32:
    case Dtype::complex64: return any_has<uint32_t>(x, 0x7F800000);
    default: return any_has<uint64_t>(x, 0x7FF0000000000000);
  }
}

/// Whether an integer is 0.
bool any_zero(const Array& array) {
  const Array x = without_gaps(array);
  const auto is_zero = [](auto word) { return word == 0; };
  switch (itemsize(x.dtype())) {
    case 1: return any_word<uint8_t>(x, is_zero);
    case 2: return any_word<uint16_t>(x, is_zero);
    case 4: return any_word<uint32_t>(x, is_zero);
    default: return any_word<uint64_t>(x, is_zero);
  }
}

bool any_zero(const Argument& divisor) {
  if (!divisor.is_array()) return !divisor.scalar().as_bool();
  return without_gil([&] { return any_zero(divisor.array()); });
}

/// Whether the function may divide integers by this number, of an array on the host.
bool may_divide_by(const ElementwiseFunction& function, const Argument& divisor) {
  constexpr std::string_view kDivisions[] = {"divmod", "floor_divide", "fmod", "remainder"};
  if (std::ranges::find(kDivisions, function.name()) == std::end(kDivisions)) return false;
  if (!divisor.is_array()) return !is_inexact(divisor.scalar().dtype());
  return is_host(divisor.array().device()) && !is_inexact(divisor.array().dtype());
}

nb::object checker(const char* name) { return package_attribute("iruka._array.float_errors", name); }

/// Whether NumPy might warn of this result, checked before Python's error state is read: checking a few
/// elements takes less time than asking, looking at many more.
bool may_matter(unsigned raised, const Array& result) {
  constexpr int64_t kFew = 4096;
  if (!is_host(result.device())) return false;
  if (result.dtype() == Dtype::bool_) return false;
  if (!is_inexact(result.dtype())) return raised & (kFloatDivideByZero | kFloatInvalid);
  if (raised & kFloatUnderflow) return true;
  if (result.size() > kFew && !nb::cast<bool>(checker("is_asked")(raised))) return false;
  return without_gil([&] { return any_not_finite(result); });
}

}  // namespace

UfuncWatch::UfuncWatch(const ElementwiseFunction& function, std::span<const Argument> arguments) {
  if (function.nin() != 2 || arguments.size() < 2 || !may_divide_by(function, arguments[1])) return;
  divisor_ = &arguments[1];
  const auto overwrites = [&](const Argument& output) { return output.array().may_overlap(divisor_->array()); };
  if (divisor_->is_array() && std::ranges::any_of(arguments.subspan(2), overwrites)) had_zero_ = any_zero(*divisor_);
}

unsigned UfuncWatch::raised() const {
  const unsigned raised = floats_.raised();
  if (!raised || !divisor_) return raised;
  if (had_zero_ ? *had_zero_ : any_zero(*divisor_)) return raised | kFloatDivideByZero;
  return raised & ~unsigned{kFloatDivideByZero};
}

void warn_caller(const char* message, nb::handle category) { checker("warn")(message, category); }

bool any_nan(const Array& x) {
  if (!is_host(x.device()) || !is_inexact(x.dtype())) return false;
  return without_gil([&] { return any_not_finite(x) && any(ElementwiseFunction("isnan")(x)).item().as_bool(); });
}

void report_ufunc_errors(const ElementwiseFunction& function, unsigned raised, std::span<PyObject* const> inputs,
                         PyObject* results, PyObject* keywords, bool is_operator) {
  if (is_silent(function.name())) return;
  const nb::tuple outputs =
      PyTuple_Check(results) ? nb::borrow<nb::tuple>(results) : nb::make_tuple(nb::handle(results));
  bool matters = false;
  for (nb::handle output : outputs)
    matters = matters || !is_array(output.ptr()) || may_matter(raised, Array(array_of(output.ptr())));
  if (!matters) return;
  nb::list given;
  for (PyObject* input : inputs) given.append(nb::handle(input));
  checker("check_ufunc")(function.name(), raised, given, outputs, keywords ? nb::handle(keywords) : nb::handle(Py_None),
                         is_operator);
}

void report_method_errors(const ElementwiseFunction& function, const char* method, unsigned raised, const Array& result,
                          const nb::tuple& inputs, const nb::dict& keywords) {
  if (!is_silent(function.name()) && may_matter(raised, result))
    checker("check_method")(raised, function.name(), method, inputs, keywords);
}

void report_function_errors(const char* function, unsigned raised, const Array& result, const nb::tuple& arguments,
                            bool is_hidden) {
  if (!is_silent(function) && ((is_hidden && is_host(result.device())) || may_matter(raised, result)))
    checker("check_function")(raised, function, to_python(result), arguments);
}

void report_cast_errors(unsigned raised, nb::handle source, Dtype dtype, const Device& device) {
  if (is_host(device) && dtype != Dtype::bool_) checker("check_cast")(raised, source, dtype_object(dtype));
}

}  // namespace iruka::python
