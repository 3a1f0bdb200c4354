// ONNX's TensorProto as an array.
#pragma once

#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>

#include "iruka/array.h"
#include "nn/files/external_files.h"

namespace iruka::nn {

/// The dtype of ONNX's TensorProto.DataType; none for one that has no counterpart.
std::optional<Dtype> onnx_dtype(int32_t type);
/// "FLOAT8E4M3FN", or the number of an unknown one.
std::string onnx_type_name(int32_t type);

struct NamedArray {
  std::string name;
  Array array;
};

/// Reads tensors of one model. Unaligned external data are copied, of each model as many bytes as its files have.
class OnnxTensorReader {
 public:
  OnnxTensorReader(const std::string& model_path, const std::string& where)
      : files_(model_path, where), where_(where) {}

  /// Raises ValueError that names the tensor where sizes and data do not agree.
  NamedArray read(protozero::data_view message);

 private:
  struct Fields;
  void take_external(Fields& fields, protozero::data_view entry) const;
  Array external_array(const Fields& fields, Dtype dtype, int64_t count);

  ExternalFiles files_;
  const std::string& where_;
  uint64_t copied_bytes_ = 0;
};

}  // namespace iruka::nn
