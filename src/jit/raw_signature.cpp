#include "jit/raw_signature.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace iruka::jit {

std::optional<Dtype> RawParameter::dtype() const {
  if (type == RawType::char_) return Dtype::int8;
  if (type < RawType::first_dtype || type >= RawType::char_) return {};
  return static_cast<Dtype>(static_cast<int>(type) - static_cast<int>(RawType::first_dtype));
}

std::string RawParameter::to_string() const {
  if (type == RawType::unknown) return "a parameter of " + std::to_string(size) + " bytes";
  std::string text = is_const ? "const " : "";
  switch (type) {
    case RawType::void_: text += "void"; break;
    case RawType::char_: text += "char"; break;
    case RawType::pointer: text += "pointer"; break;
    case RawType::structure:
      text += is_pointer ? "structure" : "structure of " + std::to_string(size) + " bytes";
      break;
    default: text += iruka::name(*dtype());
  }
  return is_pointer ? text + "*" : text;
}

void RawSignature::add(RawParameter parameter) {
  parameter.offset = (bytes + parameter.align - 1) / parameter.align * parameter.align;
  bytes = parameter.offset + parameter.size;
  parameters.push_back(parameter);
}

std::optional<RawSignature> read_signature(std::string_view mangled) {
  // "_Z15iruka_signatureIN5iruka5CodesIJLm4294967298ELm...EEEEE"
  constexpr std::string_view kList = "5CodesIJ";
  size_t at = mangled.find(kList);
  if (at == mangled.npos) return {};
  RawSignature signature{.is_known = true};
  for (at += kList.size(); mangled.substr(at).starts_with("Lm");) {
    uint64_t code = 0;
    const auto [end, error] = std::from_chars(mangled.data() + at + 2, mangled.data() + mangled.size(), code);
    if (error != std::errc() || code == 0) return {};
    at = static_cast<size_t>(end - mangled.data()) + 1;
    RawParameter parameter;
    parameter.type = static_cast<RawType>(code & 255);
    parameter.is_pointer = code & 256;
    parameter.is_const = code & 512;
    parameter.align = static_cast<uint32_t>(code >> 16 & 65535);
    parameter.size = static_cast<uint32_t>(code >> 32);
    signature.add(parameter);
  }
  return signature;
}

RawSignature signature_of_places(const std::optional<std::vector<ParameterPlace>>& places) {
  RawSignature signature;
  if (!places) return signature;
  signature.is_known = true;
  for (const ParameterPlace& place : *places) {
    RawParameter parameter;
    parameter.size = static_cast<uint32_t>(place.size);
    // Only the block of arguments depends on the alignment, because drivers are given each parameter by its address.
    parameter.align = std::min<uint32_t>(16, std::bit_ceil(std::max<uint32_t>(parameter.size, 1)));
    signature.add(parameter);
  }
  return signature;
}

}  // namespace iruka::jit
