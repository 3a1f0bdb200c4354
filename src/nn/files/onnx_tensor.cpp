#include "nn/files/onnx_tensor.h"

#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "iruka/device.h"
#include "nn/files/input.h"
#include "nn/files/protobuf.h"
#include "nn/files/tensor.h"

namespace iruka::nn {
namespace {

struct OnnxType {
  const char* name;
  std::optional<Dtype> dtype;
};
/// By TensorProto.DataType.
constexpr std::array kTypes = {
    OnnxType{"UNDEFINED", {}},
    OnnxType{"FLOAT", Dtype::float32},
    OnnxType{"UINT8", Dtype::uint8},
    OnnxType{"INT8", Dtype::int8},
    OnnxType{"UINT16", Dtype::uint16},
    OnnxType{"INT16", Dtype::int16},
    OnnxType{"INT32", Dtype::int32},
    OnnxType{"INT64", Dtype::int64},
    OnnxType{"STRING", {}},
    OnnxType{"BOOL", Dtype::bool_},
    OnnxType{"FLOAT16", Dtype::float16},
    OnnxType{"DOUBLE", Dtype::float64},
    OnnxType{"UINT32", Dtype::uint32},
    OnnxType{"UINT64", Dtype::uint64},
    OnnxType{"COMPLEX64", Dtype::complex64},
    OnnxType{"COMPLEX128", Dtype::complex128},
    OnnxType{"BFLOAT16", Dtype::bfloat16},
    OnnxType{"FLOAT8E4M3FN", {}},
    OnnxType{"FLOAT8E4M3FNUZ", {}},
    OnnxType{"FLOAT8E5M2", {}},
    OnnxType{"FLOAT8E5M2FNUZ", {}},
    OnnxType{"UINT4", {}},
    OnnxType{"INT4", {}},
    OnnxType{"FLOAT4E2M1", {}},
    OnnxType{"FLOAT8E8M0", {}},
    OnnxType{"UINT2", {}},
    OnnxType{"INT2", {}},
    OnnxType{"FLOAT6E2M3", {}},
    OnnxType{"FLOAT6E3M2", {}},
};

namespace field {
// clang-format off
constexpr protozero::pbf_tag_type dims = 1, data_type = 2, segment = 3, float_data = 4, int32_data = 5,
                                  string_data = 6, int64_data = 7, name = 8, raw_data = 9, double_data = 10,
                                  uint64_data = 11, external_data = 13, data_location = 14;
// clang-format on
}  // namespace field

/// Integers of a typed field as elements, each of which must be representable.
template <class Element, class Number>
Array integers_of(const TensorName& tensor, const std::vector<Number>& numbers, Dtype dtype, const Dims& shape) {
  Array array = Array::empty(shape, dtype, cpu());
  auto* const to = static_cast<Element*>(array.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    to[i] = static_cast<Element>(numbers[i]);
    if (static_cast<Number>(to[i]) == numbers[i]) continue;
    tensor.refuse("holds " + std::to_string(numbers[i]) + ", which is no " + name(dtype));
  }
  return array;
}

template <class Number>
Array numbers_of(const std::vector<Number>& numbers, Dtype dtype, const Dims& shape) {
  return array_of({reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size() * sizeof(Number)}, dtype, shape);
}

}  // namespace

std::optional<Dtype> onnx_dtype(int32_t type) {
  const auto index = static_cast<size_t>(type);
  return type >= 0 && index < kTypes.size() ? kTypes[index].dtype : std::nullopt;
}

std::string onnx_type_name(int32_t type) {
  const auto index = static_cast<size_t>(type);
  return type >= 0 && index < kTypes.size() ? kTypes[index].name : "the unknown type " + std::to_string(type);
}

struct OnnxTensorReader::Fields {
  std::string name;
  std::vector<int64_t> dims;
  int32_t type = 0;
  std::optional<protozero::data_view> raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int32_t> ints32;
  std::vector<int64_t> ints64;
  std::vector<uint64_t> uints64;
  bool has_segment = false, is_external = false;
  std::string location;
  std::optional<uint64_t> offset, length;

  TensorName tensor(const std::string& where) const { return {where, name}; }
  Array typed_array(const TensorName& tensor, Dtype dtype, int64_t count) const;
  Dims shape() const { return {dims.data(), static_cast<int>(dims.size())}; }
};

NamedArray OnnxTensorReader::read(protozero::data_view message) {
  Fields fields;
  std::vector<protozero::data_view> external;
  for (protozero::pbf_reader reader(message); reader.next();) {
    switch (reader.tag()) {
      case field::dims: take_numbers(reader, fields.dims); break;
      case field::data_type: take(reader, fields.type); break;
      case field::segment: fields.has_segment = true, reader.skip(); break;
      case field::float_data: take_numbers(reader, fields.floats); break;
      case field::int32_data: take_numbers(reader, fields.ints32); break;
      case field::int64_data: take_numbers(reader, fields.ints64); break;
      case field::name: take(reader, fields.name); break;
      case field::raw_data: take(reader, fields.raw.emplace()); break;
      case field::double_data: take_numbers(reader, fields.doubles); break;
      case field::uint64_data: take_numbers(reader, fields.uints64); break;
      case field::external_data: take(reader, external.emplace_back()); break;
      case field::data_location: {
        int32_t location = 0;
        take(reader, location);
        fields.is_external = location == 1;
        break;
      }
      default: reader.skip();
    }
  }
  const TensorName tensor = fields.tensor(where_);
  const std::optional<Dtype> dtype = onnx_dtype(fields.type);
  if (!dtype) tensor.refuse("is of type " + onnx_type_name(fields.type) + ", which has no dtype here");
  if (fields.has_segment) tensor.refuse("is in several segments, which no exporter writes");
  const int64_t count = count_elements(tensor, fields.dims, *dtype);
  if (fields.is_external) {
    for (const protozero::data_view& entry : external) take_external(fields, entry);
    return {fields.name, external_array(fields, *dtype, count)};
  }
  if (!fields.raw) return {fields.name, fields.typed_array(tensor, *dtype, count)};
  const std::span<const uint8_t> raw(reinterpret_cast<const uint8_t*>(fields.raw->data()), fields.raw->size());
  if (raw.size() != static_cast<uint64_t>(count * itemsize(*dtype))) {
    tensor.refuse("of shape " + to_string(fields.shape()) + " and dtype " + iruka::name(*dtype) + " has " +
                  std::to_string(raw.size()) + " bytes");
  }
  if (*dtype == Dtype::bool_) check_bools(tensor, raw);
  return {fields.name, array_of(raw, *dtype, fields.shape())};
}

/// An array of the numbers in the field that the dtype has; small types are in int32_data.
Array OnnxTensorReader::Fields::typed_array(const TensorName& tensor, Dtype dtype, int64_t count) const {
  const int64_t wanted = is_complex(dtype) ? 2 * count : count;
  auto check = [&](size_t found) {
    if (static_cast<int64_t>(found) == wanted) return;
    tensor.refuse("of shape " + to_string(shape()) + " and dtype " + iruka::name(dtype) + " has " +
                  std::to_string(found) + " numbers");
  };
  switch (dtype) {
    case Dtype::float32:
    case Dtype::complex64: check(floats.size()); return numbers_of(floats, dtype, shape());
    case Dtype::float64:
    case Dtype::complex128: check(doubles.size()); return numbers_of(doubles, dtype, shape());
    case Dtype::int64: check(ints64.size()); return numbers_of(ints64, dtype, shape());
    case Dtype::uint64: check(uints64.size()); return numbers_of(uints64, dtype, shape());
    case Dtype::uint32: check(uints64.size()); return integers_of<uint32_t>(tensor, uints64, dtype, shape());
    default: check(ints32.size());
  }
  switch (dtype) {
    case Dtype::int32: return numbers_of(ints32, dtype, shape());
    case Dtype::int16: return integers_of<int16_t>(tensor, ints32, dtype, shape());
    case Dtype::int8: return integers_of<int8_t>(tensor, ints32, dtype, shape());
    case Dtype::uint8: return integers_of<uint8_t>(tensor, ints32, dtype, shape());
    case Dtype::bool_: return integers_of<bool>(tensor, ints32, dtype, shape());
    default: return integers_of<uint16_t>(tensor, ints32, dtype, shape());  // also the bits of float16 and bfloat16
  }
}

/// One of location, offset, length, checksum.
void OnnxTensorReader::take_external(Fields& fields, protozero::data_view entry) const {
  const auto [key, value] = take_pair(entry);
  if (key == "location") fields.location = value;
  if (key != "offset" && key != "length") return;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    fields.tensor(where_).refuse("has the " + key + " " + in_quotes(value) + ", which is no number of bytes");
  }
  (key == "offset" ? fields.offset : fields.length) = number;
}

Array OnnxTensorReader::external_array(const Fields& fields, Dtype dtype, int64_t count) {
  const TensorName tensor = fields.tensor(where_);
  const auto size = static_cast<uint64_t>(count * itemsize(dtype));
  const BufferHandle& file = files_.at(fields.location);
  const uint64_t offset = fields.offset.value_or(0);
  if (fields.length.value_or(size) != size || offset > file->bytes() || size > file->bytes() - offset) {
    tensor.refuse("needs " + std::to_string(size) + " bytes from byte " + std::to_string(offset) + " on of " +
                  in_quotes(fields.location) + ", which has " + std::to_string(file->bytes()) +
                  (fields.length ? "; its length is " + std::to_string(*fields.length) : ""));
  }
  if (count == 0) return Array::empty(fields.shape(), dtype, cpu());
  const auto* const data = static_cast<const uint8_t*>(file->data()) + offset;
  if (dtype == Dtype::bool_) check_bools(tensor, {data, size});
  if (offset % static_cast<uint64_t>(itemsize(dtype)) != 0) {
    // Many tensors may be at one place, but copies of it must not fill the memory.
    copied_bytes_ += size;
    if (copied_bytes_ > 2 * file->bytes()) tensor.refuse("is one of many unaligned ones, which repeat their file");
  }
  return array_at(file, static_cast<int64_t>(offset), dtype, fields.shape());
}

}  // namespace iruka::nn
