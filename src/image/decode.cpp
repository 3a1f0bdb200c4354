// imdecode, imread, peek and batches: what is the same for every codec.
#include <algorithm>
#include <array>

#include "image/chained_decoding.h"
#include "image/codec.h"
#include "image/file_batch.h"
#include "iruka/device.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

std::string list_names() {
  std::string text;
  const auto all = codecs();
  for (size_t i = 0; i < all.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::string(all[i]->name);
  }
  return text;
}

const Codec& codec_of(Bytes bytes, const std::string& where) {
  for (const Codec* codec : codecs()) {
    if (codec->probe(bytes)) return *codec;
  }
  throw ValueError(where + ": no " + list_names() + " (" + std::to_string(bytes.size()) + " bytes)");
}

/// The format of a picture under `options`, from the format of mode `unchanged`.
PixelFormat wanted_format(PixelFormat stored, const DecodeOptions& options, const std::string& where,
                          const char* codec) {
  static constexpr Color kColors[] = {Color::rgb, Color::gray, Color::rgba, Color::rgb, Color::bgr, Color::ycbcr};
  const bool unchanged = options.mode == ColorMode::unchanged;
  const Dtype dtype = options.dtype.value_or(unchanged ? stored.dtype : Dtype::uint8);
  const PixelFormat wanted{unchanged ? stored.color : kColors[static_cast<size_t>(options.mode)], dtype};
  if (wanted == stored) return wanted;
  if (dtype != Dtype::uint8 && dtype != Dtype::uint16) {
    throw TypeError(where + ": the dtype must be uint8 or uint16, not " + std::string(name(dtype)));
  }
  if (stored.dtype == Dtype::float32) {
    throw ValueError(where + ": this " + codec + " holds float32 samples, which have no full range to scale by: read " +
                     "it with mode 'unchanged'");
  }
  return wanted;
}

std::string to_string(const Region& r) {
  return "(" + std::to_string(r.y) + ", " + std::to_string(r.x) + ", " + std::to_string(r.height) + ", " +
         std::to_string(r.width) + ")";
}

/// The wanted part of the stored picture.
Region chosen_region(const Header& header, const DecodeOptions& options, int orientation, const std::string& where) {
  if (!options.region) return {0, 0, header.height, header.width};
  const Region& r = *options.region;
  const bool swap = swaps_axes(orientation);
  const int64_t height = swap ? header.width : header.height, width = swap ? header.height : header.width;
  if (r.y < 0 || r.x < 0 || r.height < 1 || r.width < 1 || r.y > height - r.height || r.x > width - r.width) {
    throw ValueError(where + ": the region (y, x, height, width) = " + to_string(r) + " is empty or leaves the " +
                     std::to_string(height) + " x " + std::to_string(width) + " (height x width) picture");
  }
  return stored_region(r, height, width, orientation);
}

Region divided(const Region& r, int64_t divisor) {
  const int64_t y = r.y / divisor, x = r.x / divisor;
  return {y, x, divided_up(r.y + r.height, divisor) - y, divided_up(r.x + r.width, divisor) - x};
}

/// The largest divisor by which the region is still large enough.
int64_t chosen_divisor(const Decoder& decoder, const Region& region, const DecodeOptions& options, int orientation,
                       const std::string& where) {
  if (!options.at_least) return 1;
  auto [height, width] = *options.at_least;
  if (height < 1 || width < 1) {
    throw ValueError(where + ": at_least must be a height and a width of 1 or more, not (" + std::to_string(height) +
                     ", " + std::to_string(width) + ")");
  }
  if (swaps_axes(orientation)) std::swap(height, width);
  for (int64_t divisor : {8, 4, 2}) {
    const Region r = divided(region, divisor);
    if (r.height >= height && r.width >= width && decoder.can_divide(divisor)) return divisor;
  }
  return 1;
}

/// What the options' chain needs of the picture, or of the region that the options name.
ChainedDecoding for_chain(const Header& header, const DecodeOptions& options, int orientation,
                          const std::string& where) {
  PictureSize size{header.height, header.width};
  if (swaps_axes(orientation)) std::swap(size.height, size.width);
  if (options.region) size = {options.region->height, options.region->width};
  if (options.at_least && options.reducing_gap != 0)
    throw ValueError(where + ": at_least and reducing_gap both choose the size at which a JPEG is decoded");
  ChainedDecoding made = chained_decoding(*options.chain, size.height, size.width, options.reducing_gap,
                                          !options.region && !options.at_least, where);
  // Where the caller's region begins counts, too, when sides are divided.
  if (options.region && made.at_least) made.origin = {options.region->y, options.region->x};
  return made;
}

Dims shape_of(int64_t height, int64_t width, PixelFormat format) {
  return format.channels() == 1 ? Dims{height, width} : Dims{height, width, format.channels()};
}

/// The device of a result.
Device& chosen_device(const DecodeOptions& options, const Array* out, const std::string& where) {
  if (!out) return options.device ? *options.device : cpu();
  if (!out->valid()) throw ValueError(where + ": out is a default-constructed Array, which has no elements");
  if (options.device && options.device != &out->device()) {
    throw ValueError(where + ": out must be on " + device_name(*options.device) + ", not on " +
                     device_name(out->device()));
  }
  return out->device();
}

/// One file, read from `path` unless its bytes are there.
Array decode_one(FileToDecode file, const DecodeOptions& options) {
  file.options = &options;
  decode_files(chosen_device(options, file.out, file.where), {&file, 1});
  if (file.item.error) std::rethrow_exception(file.item.error);
  return std::move(file.item.picture);
}

std::vector<BatchItem> items_of(std::span<FileToDecode> files, const DecodeOptions& options) {
  for (FileToDecode& file : files) file.options = &options;
  decode_files(chosen_device(options, nullptr, ""), files);
  std::vector<BatchItem> items;
  items.reserve(files.size());
  for (FileToDecode& file : files) items.push_back(std::move(file.item));
  return items;
}

std::string named(const char* function, const std::string& path) { return std::string(function) + ": '" + path + "'"; }

}  // namespace

void check_size(const std::string& where, const char* format, int64_t width, int64_t height, int64_t max_pixels) {
  if (width <= max_pixels / height) return;
  throw ValueError(where + ": this " + format + " holds " + std::to_string(width) + " x " + std::to_string(height) +
                   " pixels, more than max_pixels = " + std::to_string(max_pixels));
}

DecodePlan plan_decoding(Bytes bytes, const DecodeOptions& options, const std::string& where) {
  return plan_decoding(codec_of(bytes, where).open(bytes, where), options, where);
}

DecodePlan plan_decoding(std::unique_ptr<Decoder> decoder, const DecodeOptions& options, const std::string& where) {
  DecodePlan plan;
  plan.decoder = std::move(decoder);
  const Header& header = plan.decoder->header();
  const char* const format = plan.decoder->codec().name;
  check_size(where, format, header.width, header.height, options.max_pixels);
  plan.wanted = wanted_format(header.format, options, where, format);
  plan.orientation = options.apply_orientation ? header.orientation : 1;
  DecodeOptions part = options;
  std::optional<ChainedDecoding> chained;
  if (options.chain) {
    chosen_region(header, options, plan.orientation, where);  // raises for one that leaves the picture
    chained = for_chain(header, options, plan.orientation, where);
    if (chained->region) part.region = chained->region;
    if (chained->at_least) part.at_least = chained->at_least;
  }
  const Region region = chosen_region(header, part, plan.orientation, where);
  plan.divisor = chosen_divisor(*plan.decoder, region, part, plan.orientation, where);
  plan.window = divided(region, plan.divisor);
  plan.decoder->check_plausible();
  plan.result_shape = plan.upright_shape();
  plan.result_dtype = plan.wanted.dtype;
  if (chained) {
    plan.chain = chained->behind(chained->at_least ? plan.divisor : 1);
    std::tie(plan.result_shape, plan.result_dtype) = plan.chain->result(plan.upright_shape(), plan.wanted.dtype);
  }
  return plan;
}

Dims DecodePlan::stored_shape() const { return shape_of(window.height, window.width, wanted); }

Dims DecodePlan::upright_shape() const {
  Dims shape = stored_shape();
  if (swaps_axes(orientation)) std::swap(shape[0], shape[1]);
  return shape;
}

void check_out(const Array& out, const DecodePlan& plan, const std::string& where) {
  if (out.shape() != plan.result_shape) {
    throw ShapeError(where + ": out has shape " + iruka::to_string(out.shape()) + ", and the picture " +
                     iruka::to_string(plan.result_shape));
  }
  if (out.dtype() != plan.result_dtype) {
    throw TypeError(where + ": out has dtype " + name(out.dtype()) + ", and the picture " + name(plan.result_dtype));
  }
  if (!out.is_c_contiguous()) throw ValueError(where + ": out must be C-contiguous");
  out.check_writable(where);
}

namespace {

void decode_rows(const DecodePlan& plan, const Array& picture, ChainStream* stream = nullptr) {
  const Header& header = plan.decoder->header();
  RowTarget rows(picture, plan.wanted, plan.window, plan.decoder->row_format(plan.wanted),
                 divided_up(header.height, plan.divisor), divided_up(header.width, plan.divisor), plan.divisor, stream);
  plan.decoder->decode(rows);
}

}  // namespace

Array decode_by_cpu(const DecodePlan& plan, const Array* out) {
  const bool in_place = out && plan.orientation == 1;
  Array picture = in_place ? *out : Array::empty(plan.stored_shape(), plan.wanted.dtype, cpu());
  decode_rows(plan, picture);
  if (plan.orientation == 1) return picture;
  return upright_copy(picture, plan.orientation, out);
}

Array decode_with_chain(const DecodePlan& plan, const Array* out) {
  const Array result = out ? *out : Array::empty(plan.result_shape, plan.result_dtype, cpu());
  if (plan.orientation == 1 && plan.decoder->has_rows_in_order()) {
    if (const auto stream = ChainStream::open(*plan.chain, plan.stored_shape(), plan.wanted.dtype, result)) {
      decode_rows(plan, stream->rows(), stream.get());
      stream->finish();
      return result;
    }
  }
  plan.chain->into(result, decode_by_cpu(plan, nullptr));
  return result;
}

Array decode(Bytes bytes, const DecodeOptions& options, const std::string& where, const Array* out) {
  return decode_one({.where = where, .bytes = bytes, .out = out}, options);
}

PictureInfo peek(Bytes bytes, const std::string& where) {
  const Codec& codec = codec_of(bytes, where);
  const std::unique_ptr<Decoder> decoder = codec.open(bytes, where);
  const Header& header = decoder->header();
  Dims shape = shape_of(header.height, header.width, header.format);
  if (swaps_axes(header.orientation)) std::swap(shape[0], shape[1]);
  return {codec.name, shape, header.format.dtype, header.orientation};
}

Array imdecode(std::span<const uint8_t> bytes, const DecodeOptions& options) {
  return decode(bytes, options, "imdecode");
}

void imdecode_into(const Array& out, std::span<const uint8_t> bytes, const DecodeOptions& options) {
  decode(bytes, options, "imdecode", &out);
}

Array imread(const std::string& path, const DecodeOptions& options) {
  return decode_one({.where = named("imread", path), .read_for = "imread", .path = &path}, options);
}

void imread_into(const Array& out, const std::string& path, const DecodeOptions& options) {
  decode_one({.where = named("imread", path), .read_for = "imread", .path = &path, .out = &out}, options);
}

PictureInfo peek(std::span<const uint8_t> bytes) { return peek(bytes, "peek"); }

PictureInfo peek_file(const std::string& path) {
  FileBytes file = read_file("peek", path);
  return peek({file.data.get(), file.size}, named("peek", path));
}

std::vector<BatchItem> imdecode_batch(std::span<const std::span<const uint8_t>> files, const DecodeOptions& options) {
  std::vector<FileToDecode> batch(files.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].where = "imdecode_batch: file " + std::to_string(i);
    batch[i].bytes = files[i];
  }
  return items_of(batch, options);
}

std::vector<BatchItem> imread_batch(std::span<const std::string> paths, const DecodeOptions& options) {
  std::vector<FileToDecode> batch(paths.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].where = named("imread_batch", paths[i]);
    batch[i].read_for = "imread_batch";
    batch[i].path = &paths[i];
  }
  return items_of(batch, options);
}

}  // namespace iruka::image
