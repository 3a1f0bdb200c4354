// Scans: dtypes resolved as NumPy does, and the initial value.
#include "ops/scan/scan.h"

#include "ops/listener.h"

namespace iruka {
namespace {

constexpr ops::Scanning kCpu{ops::scan_cpu}, kCuda{ops::scan_cuda};

bool is_sum(ScanOperation operation) { return operation == ScanOperation::add || operation == ScanOperation::multiply; }

/// The dtype of a scan of `input` by default.
Dtype scan_output(ScanOperation operation, Dtype input) {
  if (!is_sum(operation)) return input;
  if (kind(input) == Kind::boolean || kind(input) == Kind::signed_integer) return Dtype::int64;
  return kind(input) == Kind::unsigned_integer ? Dtype::uint64 : input;
}

/// The array whose scan, cast to `dtype`, is the result. Integers wrap, so narrow ones may be scanned in 64 bits.
Array as_scanned(const Array& x, ScanOperation operation, Dtype dtype) {
  const Dtype own = scan_output(operation, x.dtype());
  const bool narrows = is_sum(operation) && is_integer(dtype) && is_integer(own) && itemsize(own) >= itemsize(dtype);
  return dtype == own || narrows ? x : x.astype(dtype);
}

}  // namespace

const Implementations<const ops::Scanning> ops::Scanning::implementations{"scans", {&kCpu, &kCuda}};

LoopLayout ops::columns_of(const ScanCall& call) {
  auto without_axis = [&](const Dims& dims) {
    Dims rest;
    for (int k = 0; k < dims.size(); ++k)
      if (k != call.axis) rest.push_back(dims[k]);
    return rest;
  };
  const Dims shape = without_axis(call.x.shape()), xs = without_axis(call.x.strides()),
             outs = without_axis(call.result.strides());
  const LoopOperand operands[] = {{&shape, &xs}, {&shape, &outs}};
  LoopLayout loop(shape, operands);
  loop.reorder_axes(1);
  loop.merge_axes();
  return loop;
}

Array scan(const Array& x, ScanOperation operation, int64_t axis, const ScanOptions& options) {
  if (options.includes_initial && !is_sum(operation))
    throw ValueError("scan: minimum and maximum have no initial value");
  const int along = normalize_axis("scan", axis, x.ndim());
  const Array source = as_scanned(x, operation, options.dtype.value_or(scan_output(operation, x.dtype())));
  Dims shape = x.shape();
  shape[along] += options.includes_initial;
  Array result = Array::empty(shape, scan_output(operation, source.dtype()), x.device()), target = result;
  if (options.includes_initial) {
    std::vector<Index> first(static_cast<size_t>(x.ndim()), Slice{}), rest = first;
    first[static_cast<size_t>(along)] = Slice{0, 1, {}};
    rest[static_cast<size_t>(along)] = Slice{1, {}, {}};
    result.index(first).fill(operation == ScanOperation::multiply ? 1 : 0);
    target = result.index(rest);
  }
  if (source.size() > 0)
    x.device().service<ops::Scanning>().scan({source, target, operation, along, options.skips_nan});
  if (options.dtype) result = result.astype(*options.dtype, false);
  if (ops::current_listener) ops::current_listener->scanned(x, operation, along, options, result);
  return result;
}

}  // namespace iruka
