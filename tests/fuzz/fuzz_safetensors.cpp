// libFuzzer over files of the safetensors format, as they are and with the size of the header put right. Seeds:
// tests/fuzz/seeds/safetensors.
#include <algorithm>
#include <cstring>
#include <vector>

#include "iruka/error.h"
#include "nn_values.h"

namespace {

void read(std::span<const uint8_t> file) {
  try {
    iruka::nn::bytes_of_elements(iruka::nn::load_weights(file));
  } catch (const iruka::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read({data, size});
  if (size <= sizeof(uint64_t)) return 0;
  std::vector<uint8_t> file(data, data + size);
  const auto last = std::find(file.rbegin(), file.rend() - sizeof(uint64_t), '}');
  const uint64_t header = static_cast<uint64_t>(file.rend() - last) - sizeof(uint64_t);
  std::memcpy(file.data(), &header, sizeof(header));
  read(file);
  return 0;
}
