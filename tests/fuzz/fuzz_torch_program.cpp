// libFuzzer over programs of torch.export: the program's JSON, a 0, that of its weights, a 0, and the bytes of these.
// Seeds: tests/fuzz/seeds/torch_program.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "iruka/error.h"
#include "nn/files/torch_program.h"
#include "nn_values.h"

namespace {

using namespace iruka::nn;

void put(std::string& to, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) to.push_back(static_cast<char>(value >> 8 * i));
}

/// A zip archive of entries as they are.
class Archive {
 public:
  void add(const std::string& name, std::string_view data) {
    const uint64_t place = file_.size();
    put(file_, 0x04034b50, 4);
    put_fields(file_, name, data.size());
    file_ += name;
    file_ += data;
    put(directory_, 0x02014b50, 4);
    put(directory_, 20, 2);
    put_fields(directory_, name, data.size());
    put(directory_, 0, 2);  // comment
    put(directory_, 0, 8);  // disk and attributes
    put(directory_, place, 4);
    directory_ += name;
    ++count_;
  }

  std::string done() const {
    std::string whole = file_ + directory_;
    put(whole, 0x06054b50, 4);
    put(whole, 0, 4);
    put(whole, count_, 2);
    put(whole, count_, 2);
    put(whole, directory_.size(), 4);
    put(whole, file_.size(), 4);
    put(whole, 0, 2);
    return whole;
  }

 private:
  /// Version, flags, method, time, date, checksum, both sizes, those of the name and of more fields.
  static void put_fields(std::string& to, const std::string& name, uint64_t size) {
    put(to, 20, 2);
    put(to, 0, 8);
    put(to, 0, 4);
    put(to, size, 4);
    put(to, size, 4);
    put(to, name.size(), 2);
    put(to, 0, 2);
  }

  std::string file_, directory_;
  uint64_t count_ = 0;
};

/// Takes what stands before the next 0.
std::string_view next_part(std::string_view& text) {
  const size_t end = std::min(text.find('\0'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

void read_arrays(const Graph& graph) {
  for (const auto& [name, array] : graph.initializers) bytes_of_elements(array);
  for (const Node& node : graph.nodes) {
    for (const auto& [name, attribute] : node.attributes) {
      if (auto* array = std::get_if<iruka::Array>(&attribute)) bytes_of_elements(*array);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Archive archive;
  archive.add("a/archive_format", "pt2");
  archive.add("a/models/model.json", next_part(rest));
  archive.add("a/data/weights/model_weights_config.json", next_part(rest));
  archive.add("a/data/weights/weight_0", rest);
  const std::string file = archive.done();
  try {
    read_arrays(
        read_torch_program(Input::from_bytes("fuzz", {reinterpret_cast<const uint8_t*>(file.data()), file.size()})));
  } catch (const iruka::Error&) {
  }
  return 0;
}
