#include "pipeline/value.h"

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "image/geometry/plan.h"
#include "iruka/error.h"

namespace iruka::pipeline {
namespace {

image::DecodeOptions with_chain(const Value::Encoded& encoded, const image::Chain* chain) {
  image::DecodeOptions options = encoded.options;
  options.chain = chain;
  return options;
}

std::optional<image::Chain> chain_of(const Value& value) {
  if (value.stages().empty()) return std::nullopt;
  return image::Chain(value.stages(), value.layout());
}

/// Raises ValueError for an array whose first axis seems to count channels: its rows would be taken for those.
void check_rows_first(const Dims& shape) {
  constexpr int64_t kMostChannels = 4;
  if (shape.size() == 3 && shape[0] <= kMostChannels && shape[1] > kMostChannels && shape[2] > kMostChannels)
    throw ValueError("a picture's axes are (height, width, channels), HWC, and " + to_string(shape) +
                     " looks like CHW: give np.moveaxis(array, -3, -1), or the stages as image.Chain(stages, 'CHW'); " +
                     "if it is HWC, image.Chain(stages, 'HWC') says so");
}

/// What errors call bytes that may be the name of a file, given as text.
std::string name_of_bytes(const std::string& where, std::span<const uint8_t> bytes) {
  constexpr size_t kMostOfName = 256;
  const auto is_of_name = [](uint8_t byte) { return byte >= ' ' && byte != 0x7F; };
  if (bytes.empty() || bytes.size() > kMostOfName || !std::ranges::all_of(bytes, is_of_name)) return where;
  return where + ": the text '" + std::string(bytes.begin(), bytes.end()) + "' (a file's name is a pathlib.Path)";
}

/// A small array costs less than the launch of a copy.
void copy_into(const Array& to, const Array& from) {
  const bool is_plain = from.dtype() == to.dtype() && from.shape() == to.shape() && from.is_c_contiguous() &&
                        to.is_c_contiguous() && from.device().target().is_host && to.device().target().is_host;
  if (!is_plain) {
    Array(to).assign(from);
  } else if (from.size() > 0) {
    std::memcpy(to.data(), from.data(), static_cast<size_t>(from.size() * from.itemsize()));
  }
}

}  // namespace

image::DecodePlan Value::Encoded::plan(const image::Chain* chain) const {
  std::unique_ptr<image::Decoder> known;
  {
    const std::lock_guard lock(mutex_);
    known = std::move(decoder_);
  }
  const image::DecodeOptions wanted = with_chain(*this, chain);
  return known ? image::plan_decoding(std::move(known), wanted, where) : image::plan_decoding(bytes, wanted, where);
}

void Value::Encoded::give_back(image::DecodePlan plan) const {
  const std::lock_guard lock(mutex_);
  decoder_ = std::move(plan.decoder);
}

Value Value::of_number(double number) {
  return Array::from<float>(std::initializer_list<float>{static_cast<float>(number)}).to_device(cpu()).reshape({});
}

Value Value::of_file(std::string path) {
  Value value;
  value.path_ = std::move(path);
  return value;
}

Value Value::decoded(const image::DecodeOptions& options, const std::string& where) const {
  if (is_encoded()) throw TypeError(where + ": this is a picture already, not the bytes of a file");
  auto encoded = std::make_shared<Encoded>();
  encoded->options = options;
  if (is_file()) {
    encoded->where = where + ": '" + path_ + "'";
    encoded->file = image::read_file(where.c_str(), path_);
    encoded->bytes = {encoded->file.data.get(), encoded->file.size};
  } else {
    if (array_.dtype() != Dtype::uint8 || array_.ndim() != 1)
      throw TypeError(where + ": the bytes of a file are a uint8 array of one axis, not " +
                      std::string(iruka::name(array_.dtype())) + " of shape " + to_string(array_.shape()));
    encoded->array = array_.to_device(cpu()).contiguous();
    encoded->bytes = {static_cast<const uint8_t*>(encoded->array.data()), static_cast<size_t>(encoded->array.size())};
    encoded->where = name_of_bytes(where, encoded->bytes);
  }
  encoded->give_back(encoded->plan(nullptr));  // raises here for what is no picture
  Value value;
  value.decoding_ = std::move(encoded);
  return value;
}

Value Value::with(std::span<const image::Stage> stages, std::optional<image::Layout> layout) && {
  if (is_file()) throw TypeError("'" + path_ + "' is a file: Decode() comes before other stages");
  if (stages_.empty() && !is_encoded()) {
    layout_ = layout.value_or(layout_);
    has_layout_ = has_layout_ || layout;
    if (!has_layout_) check_rows_first(array_.shape());
  }
  stages_.insert(stages_.end(), stages.begin(), stages.end());
  return std::move(*this);
}

Making::Making(const Value& value) : value_(value), chain_(chain_of(value)) {
  if (const auto& encoded = value.encoded()) {
    plan_ = encoded->plan(chain());
    shape_ = chain_ ? plan_->result_shape : plan_->upright_shape();
    dtype_ = chain_ ? plan_->result_dtype : plan_->wanted.dtype;
    return;
  }
  if (value.is_file())
    throw TypeError("'" + value.path() + "' is a file: a pipeline needs Decode() to make a picture of it, " +
                    "before what takes it (lists of fields run in the order of their mapping)");
  const Array& start = value.start();
  shape_ = start.shape();
  dtype_ = start.dtype();
  if (chain_) std::tie(shape_, dtype_) = chain_->result(shape_, dtype_);
}

Making::~Making() {
  if (plan_ && plan_->decoder) value_.encoded()->give_back(*std::move(plan_));
}

image::FileToDecode Making::file_to_decode(const Array* out) {
  const Value::Encoded& encoded = *value_.encoded();
  options_ = with_chain(encoded, chain());
  return {.where = encoded.where,
          .bytes = encoded.bytes,
          .options = &options_,
          .out = out,
          .plan = std::exchange(plan_, std::nullopt)};
}

Array Making::make(const Array* out) {
  if (const auto plan = std::exchange(plan_, std::nullopt))
    return chain_ ? image::decode_with_chain(*plan, out) : image::decode_by_cpu(*plan, out);
  const Array& start = value_.start();
  if (!chain_ && !out) return start;
  if (!out) return (*chain_)(start);
  if (!chain_) {
    copy_into(*out, start);
  } else {
    chain_->into(*out, start.to_device(out->device()));
  }
  return *out;
}

std::pair<Dims, Dtype> Value::result() const {
  const Making making(*this);
  return {making.shape(), making.dtype()};
}

std::pair<int64_t, int64_t> Value::size() const {
  const Dims shape = result().first;
  image::Layout layout = layout_;
  for (const image::Stage& stage : stages_) {
    if (const auto* to = std::get_if<image::ToLayout>(&stage)) layout = to->layout;
  }
  const image::PictureShape picture = image::picture_shape(shape, layout, "pipeline");
  return {picture.height, picture.width};
}

Array Value::array() const {
  if (encoded() && encoded()->options.device && encoded()->options.device != &cpu()) {
    Making making(*this);
    image::FileToDecode file = making.file_to_decode(nullptr);
    image::decode_files(*encoded()->options.device, {&file, 1});
    if (file.item.error) std::rethrow_exception(file.item.error);
    return file.item.picture;
  }
  return Making(*this).make(nullptr);
}

Array Value::own_array() const {
  if (is_file() || is_encoded() || !stages_.empty()) return array();
  Array own = Array::empty(array_.shape(), array_.dtype(), array_.device());
  copy_into(own, array_);
  return own;
}

void Value::into(const Array& out) const { Making(*this).make(&out); }

double Value::number() const {
  const Array made = array();
  if (made.size() != 1)
    throw TypeError("a parameter or a condition is one number, not an array of shape " + to_string(made.shape()));
  return made.item().as_double();
}

}  // namespace iruka::pipeline
