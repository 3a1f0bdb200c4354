// nnf and reconstruct: they check the pictures, and choose how they are matched.
#include "core/patch_matching.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/device.h"
#include "image/patch_kernels.h"
#include "image/patch_search.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/patch_matching.h"
#include "ops/checks.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

constexpr int64_t kMostNeighbours = 8, kMostIterations = 1000;
constexpr std::array kMethods{"exact", "patchmatch"};

template <class Names>
size_t index_of(const Names& names, const std::string& given, const char* what) {
  const auto found = std::ranges::find(names, given);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string all;
  for (size_t k = 0; k < names.size(); ++k)
    all += (k == 0 ? "'" : k + 1 == names.size() ? "' or '" : "', '") + std::string(names[k]);
  throw ValueError(std::string(what) + " must be " + all + "', not '" + given + "'");
}

void check_range(const std::string& what, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most)
    throw ValueError(what + " must be " + std::to_string(least) + " to " + std::to_string(most) + ", not " +
                     std::to_string(value));
}

void check_picture(const char* function, const char* which, const Array& picture) {
  const std::string where = std::string(function) + ": " + which;
  if (!picture.valid()) throw ValueError(where + " is a default-constructed Array, which has no elements");
  if (picture.ndim() != 2 && picture.ndim() != 3)
    throw ShapeError(where + " must be (height, width) or (height, width, channels), not of shape " +
                     to_string(picture.shape()));
  if (is_complex(picture.dtype())) throw TypeError(where + " must hold real numbers, not " + name(picture.dtype()));
  if (picture.shape(0) > std::numeric_limits<int32_t>::max() / std::max<int64_t>(1, picture.shape(1)))
    throw ShapeError(where + " must have fewer than 2**31 pixels, not shape " + to_string(picture.shape()));
}

int64_t channels_of(const Array& picture) { return picture.ndim() == 3 ? picture.shape(2) : 1; }

void check_pictures(const Array& a, const Array& b) {
  check_picture("nnf", "a", a);
  check_picture("nnf", "b", b);
  ops::check_device("nnf: b", b, a.device());
  if (a.ndim() != b.ndim() || channels_of(a) != channels_of(b))
    throw ShapeError("nnf: a and b must have the same channels, not shapes " + to_string(a.shape()) + " and " +
                     to_string(b.shape()));
  if (a.size() == 0 || b.size() == 0)
    throw ShapeError("nnf: a and b must have pixels and channels, not shapes " + to_string(a.shape()) + " and " +
                     to_string(b.shape()));
}

/// The mask, dense; raises for one that does not fit, or that allows fewer than k pixels.
Array checked_mask(const Array& b, const PatchOptions& options) {
  int64_t allowed = b.shape(0) * b.shape(1);
  Array mask;
  if (options.mask.valid()) {
    if (options.mask.dtype() != Dtype::bool_)
      throw TypeError(std::string("nnf: mask must be bool, not ") + name(options.mask.dtype()));
    if (options.mask.shape() != Dims{b.shape(0), b.shape(1)})
      throw ShapeError("nnf: mask must have b's shape (" + std::to_string(b.shape(0)) + ", " +
                       std::to_string(b.shape(1)) + "), not " + to_string(options.mask.shape()));
    ops::check_device("nnf: mask", options.mask, b.device());
    mask = options.mask.contiguous();
    allowed = sum(mask).item<int64_t>();
  }
  if (options.k > allowed)
    throw ValueError("nnf: k must be at most the " + std::to_string(allowed) +
                     " pixels of b that may be neighbours, not " + std::to_string(options.k));
  return mask;
}

/// What pictures are compared as.
Dtype common_dtype(const Array& a, const Array& b) {
  const Dtype dtype = promote(a.dtype(), b.dtype());
  return dtype == Dtype::float16 || dtype == Dtype::bfloat16 ? Dtype::float32 : dtype;
}

/// Raises ValueError for integers whose distances 62 bits may not hold.
void check_span(const Array& a, const Array& b, const PatchOptions& options) {
  constexpr int64_t kNarrow = 2;  // bytes of integers for whom no patch is too large
  if (is_inexact(a.dtype()) || a.itemsize() <= kNarrow) return;
  const auto as_wide = [](const Scalar& value) {
    return value.dtype() == Dtype::uint64 ? static_cast<long double>(value.as_uint64())
                                          : static_cast<long double>(value.as_int64());
  };
  long double low = std::min(as_wide(min(a).item()), as_wide(min(b).item())),
              high = std::max(as_wide(max(a).item()), as_wide(max(b).item()));
  if (options.border == Border::constant && options.patch > 1) low = std::min(low, 0.0L), high = std::max(high, 0.0L);
  const int64_t numbers = options.patch * options.patch * channels_of(a);
  if ((high - low) * (high - low) * static_cast<long double>(numbers) < 0x1p61L) return;
  const auto text = [](long double value) { return std::to_string(value).substr(0, std::to_string(value).find('.')); };
  throw ValueError("nnf: the pictures hold integers from " + text(low) + " to " + text(high) +
                   ", so that the distance of patches of " + std::to_string(numbers) +
                   " numbers may exceed 2**61; convert them to float64");
}

PatchMatching::Picture picture_of(const Array& array) { return {array.data(), array.shape(0), array.shape(1)}; }

/// Without arrays for its result.
PatchMatching job_of(const Array& a, const Array& b, const Array& mask, const PatchOptions& options) {
  PatchMatching job;
  job.dtype = a.dtype();
  job.channels = channels_of(a);
  job.patch = options.patch;
  job.a = picture_of(a);
  job.b = picture_of(b);
  job.border = options.border;
  job.kept = options.k;
  job.mask = mask.valid() ? static_cast<const bool*>(mask.data()) : nullptr;
  // Larger displacements than from corner to corner do not exist.
  const int64_t most_y = a.shape(0) + b.shape(0), most_x = a.shape(1) + b.shape(1);
  const auto [window_y, window_x] = options.window.value_or(std::pair{most_y, most_x});
  job.window_y = std::min(window_y, most_y);
  job.window_x = std::min(window_x, most_x);
  job.progress = options.progress;
  return job;
}

/// Calls `match(job)` with arrays for its result on the pictures' device.
template <class Match>
NearestPatches with_job(const Array& a, const Array& b, const Array& mask, const PatchOptions& options, Match&& match) {
  Dims shape{a.shape(0), a.shape(1)};
  if (options.k > 1) shape.push_back(options.k);
  Dims field_shape = shape;
  field_shape.push_back(2);
  NearestPatches result{Array::empty(field_shape, Dtype::int32, a.device()),
                        Array::empty(shape, is_inexact(a.dtype()) ? a.dtype() : Dtype::int64, a.device())};
  PatchMatching job = job_of(a, b, mask, options);
  job.field = static_cast<int32_t*>(result.field.data());
  job.distances = result.distances.data();
  match(job);
  return result;
}

/// By the CPU's trees, whose field other devices have, too; nothing where trees do not fit the pictures, which then are
/// not copied.
std::optional<NearestPatches> match_by_trees(const Array& a, const Array& b, const Array& mask,
                                             const PatchOptions& options) {
  auto* const loops = cpu().find_service<PatchMatchings>();
  if (!loops || !loops->can_approximate(job_of(a, b, mask, options))) return {};
  const auto on_cpu = [](const Array& array) { return array.valid() ? array.to_device(cpu()) : array; };
  const NearestPatches found = with_job(on_cpu(a), on_cpu(b), on_cpu(mask), options, [&](const PatchMatching& job) {
    loops->approximate(job, options.seed, options.iterations);
  });
  if (options.progress) options.progress(a.shape(0) * a.shape(1), a.shape(0) * a.shape(1));
  return NearestPatches{found.field.to_device(a.device()), found.distances.to_device(a.device())};
}

}  // namespace

PatchMethod parse_patch_method(const std::string& name) {
  return static_cast<PatchMethod>(index_of(kMethods, name, "method"));
}

NearestPatches nnf(const Array& a, const Array& b, const PatchOptions& options) {
  check_pictures(a, b);
  check_range("nnf: patch", options.patch, 1, kMostPatch);
  check_range("nnf: k", options.k, 1, kMostNeighbours);
  check_range("nnf: iterations", options.iterations, 0, kMostIterations);
  const auto [window_y, window_x] = options.window.value_or(std::pair<int64_t, int64_t>{0, 0});
  if (window_y < 0 || window_x < 0)
    throw ValueError("nnf: window must be displacements of 0 or more, not (" + std::to_string(window_y) + ", " +
                     std::to_string(window_x) + ")");
  const Array mask = checked_mask(b, options);
  const Dtype dtype = common_dtype(a, b);
  const Array first = a.astype(dtype, false).contiguous(), second = b.astype(dtype, false).contiguous();
  check_span(first, second, options);
  if (options.method == PatchMethod::patchmatch) {
    const auto found = match_by_trees(first, second, mask, options);
    return found ? *found : search_patches(first, second, mask, options);
  }
  auto* const loops = a.device().find_service<PatchMatchings>();
  if (!loops) return match_by_kernels(first, second, mask, options);
  return with_job(first, second, mask, options, [&](const PatchMatching& job) { loops->match(job); });
}

Array reconstruct(const Array& field, const Array& b, int64_t patch, Border border) {
  check_picture("reconstruct", "b", b);
  check_range("reconstruct: patch", patch, 1, kMostPatch);
  if (!field.valid() || field.ndim() != 3 || field.shape(2) != 2)
    throw ShapeError("reconstruct: field must be (height, width, 2), not of shape " +
                     (field.valid() ? to_string(field.shape()) : std::string("()")));
  if (field.dtype() != Dtype::int32)
    throw TypeError(std::string("reconstruct: field must be int32, not ") + name(field.dtype()));
  ops::check_device("reconstruct: field", field, b.device());
  Dims shape{field.shape(0), field.shape(1)};
  if (b.ndim() == 3) shape.push_back(b.shape(2));
  const Array result = Array::empty(shape, b.dtype(), b.device());
  if (result.size() == 0) return result;
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t most = max(field.at(Ellipsis{}, axis)).item<int64_t>(), size = b.shape(axis);
    if (most >= size)
      throw IndexError("reconstruct: field has " + std::string(axis == 0 ? "y = " : "x = ") + std::to_string(most) +
                       ", but b is of shape " + to_string(b.shape()));
  }
  const bool is_float = is_inexact(b.dtype());
  static constinit ops::PermanentCache<std::pair<Border, bool>, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get({border, is_float}, [&] {
    const std::string mean = "mean_of_patches<" + std::to_string(static_cast<int>(border)) +
                             ">(Rebuilding{height, width, b_height, b_width, channels, patch}, &field[0], &b[0], i)";
    return ElementwiseKernel(
        "raw const int32 field, raw const T b, int32 height, int32 width, int32 b_height, int32 b_width, "
        "int32 channels, int32 patch",
        "raw T rebuilt", "rebuilt[i] = T(" + (is_float ? mean : "rint(" + mean + ")") + ");", "image_reconstruct",
        {.preamble = "#include \"image/kernels/reconstruct.h\"\nusing namespace iruka::image;\n",
         .diagnose_early = false});
  });
  const auto size = [](int64_t extent) { return Scalar(extent); };
  const Array dense_field = field.contiguous(), dense_b = b.contiguous();
  const Argument arguments[] = {dense_field,          dense_b,          size(field.shape(0)),
                                size(field.shape(1)), size(b.shape(0)), size(b.shape(1)),
                                size(channels_of(b)), size(patch),      result};
  kernel.fill(arguments, {.size = result.size()});
  return result;
}

}  // namespace iruka::image
