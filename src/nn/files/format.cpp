#include "nn/files/format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "nn/files/torch_program.h"
#include "nn/files/zip.h"

namespace iruka::nn {
namespace {

/// How files of other kinds begin.
struct Signature {
  size_t offset;
  std::string_view bytes, what;
};
constexpr std::array kOthers = {
    Signature{0, "\x89HDF\r\n\x1a\n", "an HDF5 file (Keras); export the network as ONNX or its weights as safetensors"},
    Signature{0, "GGUF", "a GGUF file; convert its weights to safetensors"},
    Signature{0, "\x93NUMPY", "a NumPy array; iruka.load reads it"},
    Signature{4, "TFL3", "a TensorFlow Lite model; convert it to ONNX"},
    Signature{257, "ustar", "a tar archive, as torch before 0.2 wrote; save the weights again with a newer torch"},
    Signature{0, "\x1f\x8b", "compressed by gzip; unpack it first"},
    Signature{0, "(\xb5/\xfd", "compressed by zstd; unpack it first"},
    Signature{0,
              "\xfd"
              "7zXZ",
              "compressed by xz; unpack it first"},
    Signature{0, "version https://git-lfs", "a pointer of Git LFS, not the file itself; run git lfs pull"},
    Signature{0, "<", "a page of HTML or XML, perhaps that of a failed download"},
    Signature{0, "{", "a text in JSON; a file of weights in several parts has such an index beside it"},
};

bool begins_with(std::span<const uint8_t> bytes, size_t offset, std::string_view signature) {
  if (bytes.size() < offset + signature.size()) return false;
  const std::string_view found(reinterpret_cast<const char*>(bytes.data()) + offset, signature.size());
  return found == signature;
}

/// Whether a header that fits into the file follows its own size. Checked first, because any byte may begin a size.
bool is_safetensors(std::span<const uint8_t> bytes) {
  uint64_t header_size = 0;
  if (!begins_with(bytes, sizeof(header_size), "{")) return false;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  return header_size <= bytes.size() - sizeof(header_size);
}

/// Whether the bytes are fields of ONNX's ModelProto, a graph among them, to their end. Those that begin with its
/// version, as exporters write them, may end too early: the reader says so.
bool is_onnx(std::span<const uint8_t> bytes) {
  constexpr protozero::pbf_tag_type kGraph = 7, kLastField = 64;
  constexpr uint8_t kVersionField = 0x08, kLastVersion = 32;
  bool has_graph = false;
  const bool has_version = bytes.size() > 2 && bytes[0] == kVersionField && bytes[1] > 0 && bytes[1] < kLastVersion;
  try {
    protozero::pbf_reader model(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (model.next()) {
      if (model.tag() > kLastField) return false;
      has_graph |= model.tag() == kGraph && model.wire_type() == protozero::pbf_wire_type::length_delimited;
      model.skip();
    }
  } catch (const protozero::end_of_buffer_exception&) {
    return has_version && has_graph;
  } catch (const protozero::exception&) {
    return false;
  }
  return has_graph;
}

std::string first_bytes(std::span<const uint8_t> bytes) {
  constexpr size_t kShown = 8;
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  return in_quotes({text, std::min(bytes.size(), kShown)});
}

}  // namespace

FileFormat format_of(const Input& input) {
  constexpr uint8_t kProtocolOpcode = 0x80;
  const std::span<const uint8_t> bytes = input.bytes();
  if (bytes.empty()) raise_value_error(input.where(), "is empty");
  if (is_safetensors(bytes)) return FileFormat::safetensors;
  if (begins_with(bytes, 0, "PK\x03\x04") || begins_with(bytes, 0, "PK\x05\x06")) {
    const bool is_program = is_torch_program(ZipArchive(bytes, input.where()));
    return is_program ? FileFormat::torch_program : FileFormat::torch_zip;
  }
  if (bytes[0] == kProtocolOpcode && bytes.size() > 1 && bytes[1] >= 2 && bytes[1] <= 5)
    return FileFormat::torch_legacy;
  for (const Signature& row : kOthers) {
    if (begins_with(bytes, row.offset, row.bytes)) raise_value_error(input.where(), "is " + std::string(row.what));
  }
  if (begins_with(bytes, sizeof(uint64_t), "{")) return FileFormat::safetensors;
  if (is_onnx(bytes) || input.path().ends_with(".onnx")) return FileFormat::onnx;
  raise_value_error(input.where(),
                    "is no file of weights or networks that can be read (.safetensors, .pt, .pth, .pt2, .onnx): "
                    "its " +
                        std::to_string(bytes.size()) + " bytes begin with " + first_bytes(bytes));
}

}  // namespace iruka::nn
