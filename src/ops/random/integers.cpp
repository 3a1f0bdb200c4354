// Random integers within bounds, without modulo bias.
#include "iruka/ops.h"
#include "ops/random/kernel_texts.h"
#include "ops/random/kernels.h"
#include "ops/random/philox.h"

namespace iruka::random {
namespace {

using Wide = __int128;

const char* const kFunction = "random.integers";

Wide exact(const Scalar& value) {
  return value.dtype() == Dtype::uint64 ? static_cast<Wide>(value.as_uint64()) : static_cast<Wide>(value.as_int64());
}

Wide smallest(Dtype dtype) {
  return kind(dtype) == Kind::signed_integer ? -(Wide{1} << (itemsize(dtype) * 8 - 1)) : Wide{0};
}
Wide largest(Dtype dtype) {
  if (dtype == Dtype::bool_) return 1;
  return (Wide{1} << (itemsize(dtype) * 8 - (kind(dtype) == Kind::signed_integer ? 1 : 0))) - 1;
}

ElementwiseKernel bounded_kernel(const std::string& inputs, const std::string& output, const std::string& body) {
  KernelOptions options;
  options.preamble = std::string(ops::kernels::philox) + ops::kernels::bounded;
  options.diagnose_early = false;
  options.options = {ops::kLanes};
  return ElementwiseKernel("uint64 seed, uint64 stream, " + inputs, output, body, "random_integers", options);
}

/// How the elements of a block come from its 128 bits: pieces of `bits` each, as they are (a span of 2^bits), or, of 32
/// or 64 bits, bounded by a smaller span.
struct Cut {
  int bits;
  bool bounded;
  int per_block() const { return 128 / bits; }
};

Cut cut_for(Wide span) {
  for (const int bits : {8, 16, 32, 64})
    if (span == Wide{1} << bits) return {bits, false};
  return {span < Wide{1} << 32 ? 32 : 64, true};
}

/// The type W of the kernel language's functions.
const char* word_type(const Cut& cut) { return cut.bits == 64 ? "unsigned long long" : "unsigned"; }

std::string piece(const Cut& cut, int place) {
  if (cut.bits >= 32) return std::string("piece_at<") + word_type(cut) + ">(w, " + std::to_string(place) + ")";
  const int pieces = 32 / cut.bits;
  return "(word_at(w, " + std::to_string(place / pieces) + ") >> " + std::to_string(place % pieces * cut.bits) + " & " +
         std::to_string((1 << cut.bits) - 1) + "u)";
}

/// Writes every place once, and rejected ones again, which is rare and skipped by lanes without any.
std::string block_body(const std::string& type, const Cut& cut) {
  const std::string of_word = std::string("<") + word_type(cut) + ">(", per_block = std::to_string(cut.per_block());
  std::string body = "const PhiloxWords w = philox_block(seed, stream, i, 0);\n", rejected;
  for (int place = 0; place < cut.per_block(); ++place) {
    const std::string value = cut.bounded ? "bounded" + of_word + piece(cut, place) + ", span)" : piece(cut, place);
    body += "y[" + per_block + " * i + " + std::to_string(place) + "] = (" + type + ")(low + " + value + ");\n";
    rejected += (place ? " | " : "") + ("is_rejected" + of_word + piece(cut, place) + ", span, threshold)");
  }
  if (!cut.bounded) return body;
  return body + "if (" + rejected + ") {\n  for (int place = 0; place < " + per_block +
         "; ++place)\n    if (is_rejected" + of_word + "piece_at" + of_word + "w, place), span, threshold))\n      y[" +
         per_block + " * i + place] = (" + type + ")(low + redrawn" + of_word +
         "seed, stream, i, place, span, threshold));\n}\n";
}

/// If a block gives more than 16 bytes, several threads store a part each: computing all its words again is cheaper
/// than passing them between threads.
std::string pack_body(Dtype dtype, const Cut& cut) {
  const int64_t elements = ops::pack_elements(dtype, cut.per_block()), parts = cut.per_block() / elements;
  const std::string of_word = std::string("<") + word_type(cut) + ">(", type = info(dtype).c_type,
                    count = std::to_string(elements), bits = std::to_string(cut.bits), all = std::to_string(parts);
  std::string value = "piece_at" + of_word + "w, place)";
  if (cut.bits < 32)
    value = "word_at(w, place / " + std::to_string(32 / cut.bits) + ") >> place % " + std::to_string(32 / cut.bits) +
            " * " + bits + " & " + std::to_string((1 << cut.bits) - 1) + "u";
  std::string body = "const unsigned long long block = (unsigned long long)k / " + all + ";\n" +
                     "const PhiloxWords w = philox_block(seed, stream, block, 0);\niruka_pack<" + type + ", " + count +
                     "> pack;\n#pragma unroll\nfor (int n = 0; n < " + count + "; ++n) {\n" +
                     "const int place = (int)((unsigned long long)k % " + all + ") * " + count + " + n;\n" +
                     word_type(cut) + " value = " + value + ";\n";
  if (cut.bounded)
    body += "value = is_rejected" + of_word + "value, span, threshold) ? redrawn" + of_word +
            "seed, stream, block, place, span, threshold) : bounded" + of_word + "value, span);\n";
  return ops::pack_loop(body + "pack.at[n] = (" + type + ")(low + value);\n}\npack.store(&y[" + count + " * k]);\n");
}

const ElementwiseKernel& block_kernel(Dtype dtype, const Cut& cut, bool packed) {
  static constexpr char owner = 0;
  return ops::kept_kernel({&owner, static_cast<int>(dtype), cut.bits * 4 + cut.bounded * 2 + packed}, [&] {
    const std::string word = cut.bits == 64 ? "uint64" : "uint32";
    return bounded_kernel(
        "uint64 low, " + word + " span, " + word + " threshold" + (packed ? ops::kPackParameters : ""),
        std::string("raw ") + name(dtype) + " y", packed ? pack_body(dtype, cut) : block_body(info(dtype).c_type, cut));
  });
}

/// Bounds of any integers: `last` is included. Each element has a block of its own.
const ElementwiseKernel& element_kernel(Dtype dtype) {
  static constexpr char owner = 0;
  return ops::kept_kernel({&owner, static_cast<int>(dtype), 0}, [&] {
    const std::string bound = dtype == Dtype::uint64 ? "uint64" : "int64", type = info(dtype).c_type;
    return bounded_kernel(bound + " low, " + bound + " last", std::string(name(dtype)) + " y",
                          "const unsigned long long first = (unsigned long long)low;\ny = (" + type +
                              ")(first + bounded_block(seed, stream, i, (unsigned long long)last - first + 1));");
  });
}

[[noreturn]] void refuse_empty(const std::string& low, const std::string& high) {
  throw ValueError(std::string(kFunction) + ": low " + low + " must be below high " + high);
}

void check_fits(const char* bound, Wide value, const Scalar& given, Dtype dtype) {
  if (value < smallest(dtype) || value > largest(dtype))
    throw ValueError(std::string(kFunction) + ": " + bound + " " + given.to_string() + " is out of bounds for " +
                     name(dtype));
}

void check_integer(const char* bound, const Argument& given) {
  const Kind kind = given.is_array() ? iruka::kind(given.array().dtype()) : given.scalar().kind();
  if (kind == Kind::floating || kind == Kind::complex)
    throw TypeError(std::string(kFunction) + ": bounds must be integers, but " + bound + " is " +
                    (given.is_array() ? name(given.array().dtype()) : given.scalar().to_string()));
}

Array draw_scalars(State state, const Scalar& low, const Scalar& high, const DrawOptions& options, Dtype dtype,
                   bool endpoint) {
  const Wide first = exact(low), last = exact(high) - (endpoint ? 0 : 1);
  if (first > last) refuse_empty(low.to_string(), high.to_string());
  check_fits("low", first, low, dtype);
  check_fits("high", last, high, dtype);
  const Wide span = last - first + 1;
  const Cut cut = cut_for(span);
  const auto word = [&](Wide value) {
    return Scalar(static_cast<uint64_t>(cut.bounded ? value : 0)).typed(cut.bits == 64 ? Dtype::uint64 : Dtype::uint32);
  };
  const Argument arguments[] = {ops::typed(static_cast<uint64_t>(first)), word(span),
                                word((Wide{1} << cut.bits) % span)};
  const Dims shape = ops::result_shape(kFunction, {}, options, dtype);
  ops::Filling filling{cut.per_block(), ops::takes_packs(options.out)};
  if (filling.packed) filling.elements = ops::pack_elements(dtype, filling.elements);
  return ops::run_filling(block_kernel(dtype, cut, filling.packed), state, arguments, shape, dtype, filling,
                          options.out);
}

Array as_bound(const Argument& bound) {
  return bound.is_array() ? bound.array() : full({}, bound.scalar(), bound.scalar().dtype());
}

Array draw_arrays(State state, const Array& low, const Array& high, const DrawOptions& options, Dtype dtype,
                  bool endpoint) {
  const Argument bounds[] = {low, high};
  const Dims shape = ops::result_shape(kFunction, bounds, options, dtype);
  const Dtype wide = dtype == Dtype::uint64 ? Dtype::uint64 : Dtype::int64;
  Array last = high;
  if (low.size() > 0 && high.size() > 0) {
    const Array wrong = endpoint ? greater(low, high) : ElementwiseFunction("greater_equal")(low, high);
    if (any(wrong).item<bool>())
      refuse_empty("(smallest " + min(low).item().to_string() + ")",
                   "(largest " + max(high).item().to_string() + ") everywhere");
    if (!endpoint)
      last = subtract(high.astype(kind(high.dtype()) == Kind::boolean ? Dtype::int64 : high.dtype(), false), 1);
    check_fits("low", exact(min(low).item()), min(low).item(), dtype);
    check_fits("high", exact(max(last).item()), max(high).item(), dtype);
  }
  const Array first = low.astype(wide, false);
  last = last.astype(wide, false);
  const Argument arguments[] = {first, last};
  return ops::run_elements(element_kernel(dtype), state, arguments, shape, dtype, options.out);
}

}  // namespace

Array Generator::integers(const Argument& low, const Argument& high, const DrawOptions& options, bool endpoint) {
  const Dtype dtype = options.dtype ? *options.dtype : options.out ? options.out->dtype() : Dtype::int64;
  if (!is_integer(dtype) && dtype != Dtype::bool_)
    throw TypeError(std::string(kFunction) + ": dtype must be an integer, not " + name(dtype));
  check_integer("low", low);
  check_integer("high", high);
  if (!low.is_array() && !high.is_array())
    return draw_scalars(next(), low.scalar(), high.scalar(), options, dtype, endpoint);
  return draw_arrays(next(), as_bound(low), as_bound(high), options, dtype, endpoint);
}

}  // namespace iruka::random
