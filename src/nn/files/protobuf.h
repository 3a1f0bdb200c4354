// Fields of protocol buffers. A field of an unexpected wire type is skipped, as the format asks for.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iruka::nn {

/// The number at the reader's place. Only for the wire type that it has.
template <class T>
T get_number(protozero::pbf_reader& reader) {
  if constexpr (std::is_same_v<T, float>) {
    return reader.get_float();
  } else if constexpr (std::is_same_v<T, double>) {
    return reader.get_double();
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return reader.get_uint64();
  } else {
    return static_cast<T>(reader.get_int64());  // negative numbers take ten bytes, also those of 32 bits
  }
}

template <class T>
constexpr protozero::pbf_wire_type wire_type_of() {
  using protozero::pbf_wire_type;
  if constexpr (std::is_same_v<T, float>) return pbf_wire_type::fixed32;
  if constexpr (std::is_same_v<T, double>) return pbf_wire_type::fixed64;
  return pbf_wire_type::varint;
}

template <class T>
  requires std::is_arithmetic_v<T>
void take(protozero::pbf_reader& reader, T& value) {
  reader.has_wire_type(wire_type_of<T>()) ? void(value = get_number<T>(reader)) : reader.skip();
}
inline void take(protozero::pbf_reader& reader, protozero::data_view& value) {
  reader.has_wire_type(protozero::pbf_wire_type::length_delimited) ? void(value = reader.get_view()) : reader.skip();
}
inline void take(protozero::pbf_reader& reader, std::string& value) {
  protozero::data_view view;
  take(reader, view);
  value.assign(view.data() ? view.data() : "", view.size());
}

/// A part of a repeated field of numbers: one of them, or several in packed form.
template <class T>
void take_numbers(protozero::pbf_reader& reader, std::vector<T>& numbers) {
  if (reader.has_wire_type(wire_type_of<T>())) {
    numbers.push_back(get_number<T>(reader));
  } else if (!reader.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
    reader.skip();
  } else if constexpr (std::is_same_v<T, float>) {
    for (const float value : reader.get_packed_float()) numbers.push_back(value);
  } else if constexpr (std::is_same_v<T, double>) {
    for (const double value : reader.get_packed_double()) numbers.push_back(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    for (const uint64_t value : reader.get_packed_uint64()) numbers.push_back(value);
  } else {
    for (const int64_t value : reader.get_packed_int64()) numbers.push_back(static_cast<T>(value));
  }
}

/// StringStringEntryProto.
inline std::pair<std::string, std::string> take_pair(protozero::data_view message) {
  std::pair<std::string, std::string> pair;
  for (protozero::pbf_reader reader(message); reader.next();) {
    switch (reader.tag()) {
      case 1: take(reader, pair.first); break;
      case 2: take(reader, pair.second); break;
      default: reader.skip();
    }
  }
  return pair;
}

}  // namespace iruka::nn
