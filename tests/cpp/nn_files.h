// Files of weights and networks for tests: writers of zip archives, pickles and safetensors from their specifications,
// and the contents that tools/make_nn_files.py wrote beside each file of tests/data/nn.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "iruka/nn.h"

namespace nn_files {

using Bytes = std::vector<uint8_t>;
using Json = nlohmann::ordered_json;

inline std::string data_path(const std::string& name) { return std::string(IRUKA_TEST_DATA) + "/nn/" + name; }

inline Bytes read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Json expected(const std::string& name) {
  std::ifstream file(data_path(name + ".json"));
  return Json::parse(file);
}

inline Bytes bytes(std::string_view text) { return {text.begin(), text.end()}; }

inline void put(Bytes& to, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) to.push_back(static_cast<uint8_t>(value >> 8 * i));
}
inline void put(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }
inline void put(Bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }

/// An entry of a zip archive; what is set beside name and data makes the archive wrong.
struct ZipEntry {
  std::string name;
  Bytes data;
  bool deflated = false;
  uint16_t flags = 0;
  uint16_t method = 0xffff;      ///< replaces the true one
  uint64_t size = UINT64_MAX;    ///< replaces the true unpacked size
  uint64_t offset = UINT64_MAX;  ///< replaces the true place
  uint32_t checksum = UINT32_MAX;
  std::string local_name = "\n";  ///< replaces the name in the entry's own header
};

inline Bytes deflated(const Bytes& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, data.size()));
  stream.next_in = const_cast<uint8_t*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The archive of the entries, each aligned to 64 bytes as torch does it.
inline Bytes zip(const std::vector<ZipEntry>& entries, uint64_t claimed_count = UINT64_MAX) {
  Bytes file, directory;
  for (const ZipEntry& entry : entries) {
    const Bytes stored = entry.deflated ? deflated(entry.data) : entry.data;
    const uint64_t method = entry.method != 0xffff ? entry.method : entry.deflated ? 8 : 0;
    const uint64_t size = entry.size != UINT64_MAX ? entry.size : entry.data.size();
    const uint64_t start = file.size();
    const std::string& local_name = entry.local_name == "\n" ? entry.name : entry.local_name;
    const uint64_t checksum = entry.checksum != UINT32_MAX
                                  ? entry.checksum
                                  : crc32(0, entry.data.data(), static_cast<uInt>(entry.data.size()));
    auto put_fields = [&](Bytes& to, uint64_t name_size, uint64_t extra_size) {
      for (uint64_t value : {uint64_t{20}, uint64_t{entry.flags}, method, uint64_t{0}, uint64_t{0x21}})
        put(to, value, 2);
      put(to, checksum, 4);
      put(to, stored.size(), 4);
      put(to, size, 4);
      put(to, name_size, 2);
      put(to, extra_size, 2);
    };
    const uint64_t padding = (64 - (start + 30 + local_name.size() + 4) % 64) % 64;
    put(file, 0x04034b50, 4);
    put_fields(file, local_name.size(), 4 + padding);
    put(file, local_name);
    put(file, 0x4246, 2);
    put(file, padding, 2);
    put(file, Bytes(padding, 'Z'));
    put(file, stored);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    put_fields(directory, entry.name.size(), 0);
    put(directory, 0, 2);  // comment
    put(directory, 0, 2);  // disk
    put(directory, 0, 2);  // attributes
    put(directory, 0, 4);
    put(directory, entry.offset != UINT64_MAX ? entry.offset : start, 4);
    put(directory, entry.name);
  }
  const uint64_t place = file.size(), count = claimed_count != UINT64_MAX ? claimed_count : entries.size();
  put(file, directory);
  put(file, 0x06054b50, 4);
  put(file, 0, 4);
  put(file, count, 2);
  put(file, count, 2);
  put(file, directory.size(), 4);
  put(file, place, 4);
  put(file, 0, 2);
  return file;
}

/// Writes the opcodes of a pickle of protocol 2, one call each.
class PickleWriter {
 public:
  PickleWriter() { raw("\x80\x02"); }
  PickleWriter& raw(std::string_view opcodes) {
    put(bytes_, opcodes);
    return *this;
  }
  PickleWriter& integer(int32_t value) {
    raw("J");
    put(bytes_, static_cast<uint32_t>(value), 4);
    return *this;
  }
  PickleWriter& big(int64_t value) {
    raw("\x8a\x08");
    put(bytes_, static_cast<uint64_t>(value), 8);
    return *this;
  }
  PickleWriter& text(std::string_view text) {
    raw("X");
    put(bytes_, text.size(), 4);
    return raw(text);
  }
  PickleWriter& global(const std::string& module, const std::string& name) {
    return raw("c" + module + "\n" + name + "\n");
  }
  PickleWriter& integers(const std::vector<int64_t>& values) {
    raw("(");
    for (int64_t value : values) big(value);
    return raw("t");
  }
  /// A tensor over the storage `key` of `elements` elements.
  PickleWriter& tensor(const std::string& key, int64_t elements, int64_t offset, const std::vector<int64_t>& shape,
                       const std::vector<int64_t>& strides, const std::string& storage = "FloatStorage") {
    global("torch._utils", "_rebuild_tensor_v2").raw("((").text("storage").global("torch", storage);
    text(key).text("cpu").big(elements).raw("tQ").big(offset).integers(shape).integers(strides);
    return raw("\x89").global("collections", "OrderedDict").raw(")RtR");
  }
  Bytes stop() const {
    Bytes done = bytes_;
    done.push_back('.');
    return done;
  }

 private:
  Bytes bytes_;
};

/// A file as torch.save() writes it; storages under their keys.
inline Bytes torch_zip(const Bytes& pickle, const std::vector<std::pair<std::string, Bytes>>& storages = {},
                       bool deflated = false) {
  std::vector<ZipEntry> entries = {{.name = "archive/data.pkl", .data = pickle, .deflated = deflated},
                                   {.name = "archive/byteorder", .data = bytes("little")}};
  for (const auto& [key, data] : storages) {
    entries.push_back({.name = "archive/data/" + key, .data = data, .deflated = deflated});
  }
  entries.push_back({.name = "archive/version", .data = bytes("3\n")});
  return zip(entries);
}

inline Bytes safetensors(const std::string& header, const Bytes& data, uint64_t size = UINT64_MAX) {
  Bytes file;
  put(file, size == UINT64_MAX ? header.size() : size, 8);
  put(file, header);
  put(file, data);
  return file;
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Every element in C order as JSON, whatever the strides: no kernel runs.
inline void append_elements(const iruka::Array& array, int axis, const char* data, Json& values) {
  if (axis < array.ndim()) {
    for (int64_t i = 0; i < array.shape(axis); ++i) {
      append_elements(array, axis + 1, data + i * array.strides()[axis], values);
    }
    return;
  }
  const iruka::Scalar value = iruka::Scalar::load(array.dtype(), data);
  switch (value.kind()) {
    case iruka::Kind::boolean: values.push_back(value.as_bool()); break;
    case iruka::Kind::signed_integer: values.push_back(value.as_int64()); break;
    case iruka::Kind::unsigned_integer: values.push_back(value.as_uint64()); break;
    case iruka::Kind::floating: values.push_back(value.as_double()); break;
    case iruka::Kind::complex: values.push_back({value.as_complex().real(), value.as_complex().imag()}); break;
  }
}

inline Json content(const iruka::Array& array) {
  Json shape = Json::array(), values = Json::array();
  for (int64_t extent : array.shape()) shape.push_back(extent);
  append_elements(array, 0, static_cast<const char*>(array.data()), values);
  return {{"dtype", iruka::name(array.dtype())}, {"shape", shape}, {"values", values}};
}

/// A value in the form of tools/make_nn_files.py.
inline Json content(const iruka::nn::Value& value) {
  using Kind = iruka::nn::Value::Kind;
  Json list = Json::array();
  switch (value.kind()) {
    case Kind::none: return nullptr;
    case Kind::text: return value.text();
    case Kind::array: return content(value.array());
    case Kind::bytes:
      for (char c : value.bytes()) list.push_back(static_cast<uint8_t>(c));
      return {{"bytes", list}};
    case Kind::list:
    case Kind::tuple:
      for (const iruka::nn::Value& item : value.values()) list.push_back(content(item));
      return {{iruka::nn::name(value.kind()), list}};
    case Kind::mapping:
      for (const iruka::nn::Item& item : value.items()) list.push_back({content(item.key), content(item.value)});
      return {{"mapping", list}};
    case Kind::number: break;
  }
  const iruka::Scalar& number = value.number();
  switch (number.kind()) {
    case iruka::Kind::boolean: return number.as_bool();
    case iruka::Kind::signed_integer: return number.as_int64();
    case iruka::Kind::unsigned_integer: return number.as_uint64();
    case iruka::Kind::floating: return number.as_double();
    case iruka::Kind::complex: break;
  }
  return {{"complex", {number.as_complex().real(), number.as_complex().imag()}}};
}

}  // namespace nn_files
