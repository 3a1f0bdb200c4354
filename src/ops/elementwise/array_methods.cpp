// Fills and assignments of arrays, and how elements are written: memory moves where bytes allow it, else kernels.
#include <cstring>
#include <utility>

#include "core/array_operations.h"
#include "core/device.h"
#include "iruka/array.h"
#include "iruka/cuda.h"
#include "iruka/device.h"
#include "iruka/indexing.h"
#include "iruka/kernel.h"
#include "ops/elementwise/cast_text.h"
#include "ops/elementwise/elementwise_table.h"
#include "ops/elementwise/loop_types.h"
#include "ops/permanent_cache.h"

namespace iruka {
namespace {

/// The text of a cast of floats or complex numbers to integers that raises NumPy's floating-point exceptions: for
/// infinity, NaN and values out of range. For small integers, NumPy checks the range of 32 bits.
std::string telling_cast(Dtype from, Dtype to) {
  const Dtype part = ops::computing_dtype(real_dtype(from));
  const int exponents = part == Dtype::float64 ? 1024 : 128, bits = itemsize(to) == 8 ? 64 : 32;
  const bool has_sign = kind(to) == Kind::signed_integer || itemsize(to) < 4;
  const std::string scale = "0x1p" + std::to_string(exponents - bits + has_sign);
  const std::string type = info(part).c_type, number = is_complex(from) ? "x.real()" : "x";
  return "const " + type + " number = " + number +
         ";\ny = " + ops::cast_text(part, to, "op::with_exceptions(number, number * " + type + "(" + scale + "))") +
         ";";
}

/// The kernel that writes `from` elements as `to`, made at its first use.
const ElementwiseKernel& cast_kernel(Dtype from, Dtype to) {
  static constinit ops::PermanentCache<std::pair<Dtype, Dtype>, ElementwiseKernel> kernels;
  return kernels.get({from, to}, [&] {
    const std::string in = std::string(name(from)) + " x", out = std::string(name(to)) + " y";
    KernelOptions options;
    options.diagnose_early = false;
    const bool tells = is_inexact(from) && is_integer(to);
    if (tells) options.preamble = ops::helper_text("float_exceptions");
    const std::string text = tells ? telling_cast(from, to) : "y = " + ops::cast_text(from, to, "x") + ";";
    return ElementwiseKernel(in, out, text, from == to ? "copy" : "astype", options);
  });
}

/// Whether both arrays are dense in the same order, so that their bytes correspond.
bool same_dense_layout(const Array& a, const Array& b) {
  return (a.is_c_contiguous() && b.is_c_contiguous()) || (a.is_f_contiguous() && b.is_f_contiguous());
}

bool same_layout(const Array& a, const Array& b) {
  return a.data() == b.data() && a.itemsize() == b.itemsize() && a.strides() == b.strides();
}

void write(const Array& source, const Array& target) {
  if (target.size() == 0) return;
  if (source.dtype() == target.dtype() && same_dense_layout(source, target)) {
    target.device().copy(target.data(), source.data(), static_cast<size_t>(target.nbytes()));
    return;
  }
  const Argument arguments[] = {source, target};
  cast_kernel(source.dtype(), target.dtype()).fill(arguments);
}

/// Copies an array to another device's memory, dense in the same order. The CPU cannot reach a GPU's memory. Between
/// two GPUs, the target's stream copies after the work that the source's stream has so far, and before what it gets.
void transfer(const Array& source, const Array& target) {
  Device &from = source.device(), &to = target.device();
  const bool to_host = to.target().is_host;
  const bool is_between_gpus = !from.target().is_host && !to_host;
  if (is_between_gpus) Stream::current(to).wait_for(Stream::current(from));
  Device& copier = to_host ? from : to;
  copier.copy(target.data(), source.data(), static_cast<size_t>(source.nbytes()));
  if (is_between_gpus)
    Stream::current(from).wait_for(Stream::current(to));
  else if (cuda::is_pinned(to_host ? target.data() : source.data()))  // the host may read or change it from now on
    copier.synchronize_stream(copier.current_stream());
  if (to_host) check_indices(from);
}

/// The array to assign, without the leading axes of one element that the target lacks.
Array drop_leading_axes(const Array& source, int ndim) {
  Array rest = source;
  while (rest.ndim() > ndim && rest.shape(0) == 1) rest = rest.squeeze(0);
  return rest;
}

Array broadcast_into(const Array& source, const Dims& shape) {
  const Array rest = drop_leading_axes(source, shape.size());
  if (rest.shape() == shape) return rest;
  try {
    return rest.broadcast_to(shape);
  } catch (const ShapeError&) {
    throw ShapeError("could not broadcast input array from shape " + to_string(source.shape()) + " into shape " +
                     to_string(shape));
  }
}

/// The byte that every byte of the element is, if there is one.
std::optional<int> repeated_byte(const std::byte* element, size_t size) {
  for (size_t k = 1; k < size; ++k)
    if (element[k] != element[0]) return {};
  return static_cast<int>(element[0]);
}

}  // namespace

constinit const ArrayOperations array_operations{write};

Array Array::to_device(Device& device) const {
  if (&device == &this->device()) return *this;
  if (is_f_contiguous() && !is_c_contiguous()) return transpose().to_device(device).transpose();
  const Array dense = contiguous();
  Array result = empty(shape_, dtype_, device);
  if (size_ == 0) return result;
  transfer(dense, result);
  return result;
}

void Array::assign(const Array& source) {
  check_writable("assignment destination");
  if (size_ > 0 && &source.device() != &device() && source.dtype() == dtype_ && source.shape() == shape_ &&
      same_dense_layout(source, *this))
    return transfer(source, *this);
  Array values = broadcast_into(source.to_device(device()), shape_);
  if (values.may_overlap(*this)) {
    if (values.dtype() == dtype_ && same_layout(values, *this)) return;
    if (!same_layout(values, *this)) values = values.copy();
  }
  write(values, *this);
}

void Array::fill(const Scalar& value) {
  check_writable("assignment destination");
  ops::check_literal_fits(value, dtype_);
  if (size_ == 0) return;
  alignas(16) std::byte element[16];
  value.store(dtype_, element);
  if (size_ == 1 && device().target().is_host) {  // no launch for one element
    std::memcpy(data(), element, static_cast<size_t>(itemsize()));
    return;
  }
  const auto byte = repeated_byte(element, static_cast<size_t>(itemsize()));
  if (byte && (is_c_contiguous() || is_f_contiguous())) {
    device().fill(data(), *byte, static_cast<size_t>(nbytes()));
    return;
  }
  const Argument arguments[] = {Scalar::load(dtype_, element), *this};
  cast_kernel(dtype_, dtype_).fill(arguments);
}

Scalar Array::item() const {
  if (size_ != 1)
    throw ValueError("item: can only convert an array of size 1 to a scalar, not one of shape " + to_string(shape_));
  alignas(16) char element[16];
  device().copy(element, data(), static_cast<size_t>(itemsize()));
  check_indices(device());
  return Scalar::load(dtype_, element);
}

void Array::copy_to(void* values, Dtype dtype) const {
  if (size_ == 0) return;
  const Array dense = astype(dtype, false).contiguous();
  device().copy(values, dense.data(), static_cast<size_t>(dense.nbytes()));
  device().synchronize_stream(device().current_stream());  // a copy to page-locked memory may be under way
  check_indices(device());
}

}  // namespace iruka
