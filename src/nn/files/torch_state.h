// The tensors of a torch.export archive, and what its JSON says of tensors.
#pragma once

#include <map>
#include <set>
#include <string>

#include "nn/files/tensor.h"
#include "nn/files/torch_json.h"
#include "nn/files/torch_operators.h"
#include "nn/files/zip.h"

namespace iruka::nn {

class Input;

/// dtype and shape of a TensorMeta; without a value. Raises ValueError for what has no counterpart here.
TorchTensor described_tensor(const JsonPart& meta);

/// Parameters, buffers and constants by their names in the module.
class TorchState {
 public:
  /// `folder`: what the archive's names begin with; `model`: the program's name in it.
  TorchState(const Input& input, const ZipArchive& archive, const std::string& folder, const std::string& model);

  /// Raises ValueError where the archive lacks it, or its bytes do not hold it.
  Array at(const std::string& name);

 private:
  void read_table(const std::string& kind, const std::string& model);
  const StorageMemory& payload(const TensorName& tensor, const std::string& place);

  struct Entry {
    JsonPart meta;
    std::string folder;  ///< "data/weights/"
  };

  const Input& input_;
  const ZipArchive& archive_;
  const std::string folder_;
  std::vector<nlohmann::json> documents_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, StorageMemory> payloads_;
  std::set<std::string> checked_bools_;
};

}  // namespace iruka::nn
