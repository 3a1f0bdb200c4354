// Random integers within bounds, without modulo bias.
#include "iruka/ops.h"
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

ElementwiseKernel bounded_kernel(const std::string& inputs, const std::string& output, const std::string& headers,
                                 const std::string& body) {
  KernelOptions options;
  options.preamble = headers;
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

const ElementwiseKernel& block_kernel(Dtype dtype, const Cut& cut, bool packed) {
  static constexpr char owner = 0;
  return ops::cached_kernel({&owner, static_cast<int>(dtype), cut.bits * 4 + cut.bounded * 2 + packed}, [&] {
    const std::string word = cut.bits == 64 ? "uint64" : "uint32";
    const std::string inputs = "uint64 low, " + word + " span, " + word + " threshold";
    const std::string form = std::string("store_integers<") + info(dtype).c_type + ", " + std::to_string(cut.bits) +
                             (cut.bounded ? ", true" : ", false"),
                      rest = ", low, span, threshold, y);", output = std::string("raw ") + name(dtype) + " y";
    if (!packed)
      return bounded_kernel(inputs, output, ops::random_header("cpu/integers"), form + ">(seed, stream, i" + rest);
    return bounded_kernel(
        inputs + ops::kPackParameters, output, ops::random_header("cuda/integers") + ops::random_header("cuda/packs"),
        "each_pack(i, packs, rounds, [&](long long k) {\n" + form + ", " +
            std::to_string(ops::pack_elements(dtype, cut.per_block())) + ">(seed, stream, k" + rest + "\n});");
  });
}

/// Bounds of any integers: `last` is included. Each element has a block of its own.
const ElementwiseKernel& element_kernel(Dtype dtype) {
  static constexpr char owner = 0;
  return ops::cached_kernel({&owner, static_cast<int>(dtype), 0}, [&] {
    const std::string bound = dtype == Dtype::uint64 ? "uint64" : "int64", type = info(dtype).c_type;
    return bounded_kernel(bound + " low, " + bound + " last", std::string(name(dtype)) + " y",
                          ops::random_header("bounded"),
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
