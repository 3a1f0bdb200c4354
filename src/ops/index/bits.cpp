// Bools packed into bits, and back: a 64-bit word has eight of them, one a byte.
#include <bit>

#include "core/once.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/selection.h"
#include "ops/functions.h"
#include "ops/kernel_text.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

ElementwiseKernel pack_kernel(const char* body) {
  return ElementwiseKernel("uint64 word", "uint8 packed", body, "packbits",
                           {.preamble = header_text("index", "bits", "bits")});
}

ElementwiseKernel unpack_kernel(const char* body) {
  return ElementwiseKernel("uint8 packed", "uint64 word", body, "unpackbits",
                           {.preamble = header_text("index", "bits", "bits")});
}

const ElementwiseKernel& packing(BitOrder order) {
  if (order == BitOrder::highest_first) return made_once([] { return pack_kernel("packed = pack<true>(word);"); });
  return made_once([] { return pack_kernel("packed = pack<false>(word);"); });
}

const ElementwiseKernel& unpacking(BitOrder order) {
  if (order == BitOrder::highest_first) return made_once([] { return unpack_kernel("word = unpack<true>(packed);"); });
  return made_once([] { return unpack_kernel("word = unpack<false>(packed);"); });
}

/// An array whose last axis is the one that bits lie along.
struct AlongBits {
  AlongBits(const char* function, const Array& x, std::optional<int64_t> named) {
    const Array whole = named ? (x.ndim() == 0 ? x.reshape({1}) : x) : x.ravel();
    axis = normalize_axis(function, named.value_or(0), whole.ndim());
    turned = whole.swapaxes(axis, -1);
  }
  int64_t length() const { return turned.shape(turned.ndim() - 1); }
  Dims shape_of_length(int64_t length) const {
    Dims shape = turned.shape();
    shape[shape.size() - 1] = length;
    return shape;
  }
  Array turned_back(const Array& result) const { return result.swapaxes(axis, -1).contiguous(); }

  int axis;
  Array turned;
};

/// The elements at the front of an axis of `length`, zeros behind them.
Array lengthened(const AlongBits& bits, const Array& x, int64_t length) {
  Array longer = Array::empty(bits.shape_of_length(length), Dtype::uint8, x.device());
  const int last = x.ndim() - 1;
  const int64_t there = x.shape(last);
  cut(longer, last, 0, there).assign(x);
  if (there < length) cut(longer, last, there, length).fill(0);
  return longer;
}

}  // namespace

Array packbits(const Array& x, std::optional<int64_t> axis, BitOrder order) {
  if (x.dtype() != Dtype::bool_ && !is_integer(x.dtype()))
    throw TypeError("Expected an input array of integer or boolean data type");
  AlongBits bits("packbits", x, axis);
  const int64_t length = bits.length(), bytes = (length + 7) / 8;
  const Dims shape = bits.shape_of_length(bytes);
  if (count(shape) == 0) return bits.turned_back(Array::empty(shape, Dtype::uint8, x.device()));
  Array whole = (x.itemsize() > 1 ? not_equal(bits.turned, 0) : bits.turned).view(Dtype::uint8);
  const bool has_words = length % 8 == 0 && whole.is_c_contiguous() && std::bit_cast<uintptr_t>(whole.data()) % 8 == 0;
  if (!has_words) whole = lengthened(bits, whole, bytes * 8);
  return bits.turned_back(packing(order)(whole.view(Dtype::uint64)));
}

Array unpackbits(const Array& x, std::optional<int64_t> axis, std::optional<int64_t> wanted, BitOrder order) {
  if (x.dtype() != Dtype::uint8) throw TypeError("Expected an input array of unsigned byte data type");
  const AlongBits bits("unpackbits", x, axis);
  const int64_t there = bits.length() * 8;
  Array result = x.size() > 0 ? unpacking(order)(bits.turned).contiguous().view(Dtype::uint8)
                              : Array::empty(bits.shape_of_length(there), Dtype::uint8, x.device());
  if (wanted && *wanted < -there)
    throw ValueError("-count must be less than or equal to the number of bits (" + std::to_string(there) +
                     "), but is " + std::to_string(*wanted));
  const int64_t length = !wanted ? there : *wanted < 0 ? there + *wanted : *wanted;
  if (length < there) result = cut(result, result.ndim() - 1, 0, length);
  return bits.turned_back(length > there ? lengthened(bits, result, length) : result);
}

}  // namespace iruka
