// libFuzzer over the interpreter of pickles: as the program of a torch archive whose storages all have the same bytes,
// and as a file of the old format. Seeds: tests/fuzz/seeds/pickle.
#include "iruka/device.h"
#include "iruka/error.h"
#include "nn/files/torch_file.h"
#include "nn/files/torch_objects.h"
#include "nn_values.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace iruka::nn;
  constexpr size_t kStorageBytes = 1024;
  const std::string where = "fuzz";
  try {
    Pickle pickle({data, size}, where);
    const Object& root = pickle.next();
    StorageTable table(pickle.storages().size());
    for (StorageMemory& memory : table) {
      memory = {std::make_shared<iruka::Buffer>(iruka::cpu(), kStorageBytes), 0, kStorageBytes};
      std::fill_n(static_cast<uint8_t*>(memory.buffer->data()), kStorageBytes, uint8_t{1});
    }
    bytes_of_elements(to_value(root, pickle.storages(), table, where));
  } catch (const iruka::Error&) {
  }
  try {
    bytes_of_elements(read_torch_legacy(Input::from_bytes(where, {data, size})));
  } catch (const iruka::Error&) {
  }
  return 0;
}
