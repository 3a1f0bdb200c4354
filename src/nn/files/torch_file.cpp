#include "nn/files/torch_file.h"

#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "nn/files/pickle.h"
#include "nn/files/torch_objects.h"
#include "nn/files/zip.h"

namespace iruka::nn {
namespace {

/// The largest element; views of a storage that begins at a multiple of it are aligned.
constexpr uint64_t kAlignment = 16;

/// Bytes of the file from `offset` on: a part of its buffer, or a copy where that would not be aligned.
StorageMemory memory_at(const Input& input, uint64_t offset, uint64_t size) {
  if (offset % kAlignment == 0) return {input.buffer(), static_cast<int64_t>(offset), size};
  return {copied(input.bytes().subspan(offset, size)), 0, size};
}

void check_size(const std::string& where, const Storage& storage, uint64_t size) {
  const auto needed = static_cast<uint64_t>(storage.elements * storage.element_bytes());
  if (needed <= size) return;
  raise_value_error(where, "the storage " + in_quotes(storage.key) + " of " + std::to_string(storage.elements) +
                               " elements needs " + std::to_string(needed) + " bytes, and the file has " +
                               std::to_string(size));
}

/// The folder of the archive that holds data.pkl. torch names it after the file.
std::string_view folder_of_pickle(const ZipArchive& archive, const std::string& where) {
  constexpr std::string_view kPickle = "data.pkl";
  std::optional<std::string_view> folder;
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kPickle)) continue;
    const std::string_view before = entry.name.substr(0, entry.name.size() - kPickle.size());
    if (!before.empty() && before.find('/') != before.size() - 1) continue;
    if (folder) raise_value_error(where, "the archive has two files data.pkl");
    folder = before;
  }
  if (folder) return *folder;
  std::string names;
  for (const ZipEntry& entry : archive.entries()) {
    constexpr size_t kShown = 100;
    if (entry.name.ends_with(".npy")) raise_value_error(where, "is an archive of NumPy arrays; iruka.load reads it");
    if (names.size() < kShown) names += (names.empty() ? "" : ", ") + in_quotes(entry.name);
  }
  raise_value_error(where, "is a zip archive that torch.save() did not write: it has no data.pkl" +
                               (names.empty() ? "" : " among " + names));
}

void check_archive(const ZipArchive& archive, const std::string& folder, const std::string& where) {
  for (const ZipEntry& entry : archive.entries()) {
    if (entry.name.starts_with(folder + "code/") || entry.name == folder + "constants.pkl") {
      raise_value_error(where,
                        "is a TorchScript program (torch.jit.save), of which nothing is executed; save its "
                        "state_dict() with torch.save(), or export the network as ONNX");
    }
  }
  check_byte_order(archive, folder, where);
}

/// The storage at `position` of an old file: its number of elements, and these.
StorageMemory legacy_storage(const Input& input, uint64_t position, const Storage& storage) {
  int64_t elements = 0;
  const uint64_t left = input.bytes().size() - position;
  if (left < sizeof(elements)) {
    raise_value_error(input.where(), "cut short before the storage " + in_quotes(storage.key));
  }
  std::memcpy(&elements, input.bytes().data() + position, sizeof(elements));
  if (elements != storage.elements) {
    raise_value_error(input.where(), "the storage " + in_quotes(storage.key) + " has " + std::to_string(elements) +
                                         " elements, and its tensors say " + std::to_string(storage.elements));
  }
  check_size(input.where(), storage, left - sizeof(elements));
  const auto size = static_cast<uint64_t>(elements * storage.element_bytes());
  return memory_at(input, position + sizeof(elements), size);
}

/// The storages of an old file follow its pickles in the order of a list of their keys, each after its size.
StorageTable legacy_storages(const Input& input, const Pickle& pickle, const Object& keys) {
  const std::string& where = input.where();
  std::unordered_map<std::string_view, size_t> indices;
  for (const Storage& storage : pickle.storages()) {
    if (indices.try_emplace(storage.key, indices.size()).second) continue;
    raise_value_error(where, "the storage " + in_quotes(storage.key) + " has two types or sizes");
  }
  const auto* const list = keys.as<Object::List>();
  if (!list) raise_value_error(where, std::string("the list of its storages is ") + keys.kind());
  StorageTable table(pickle.storages().size());
  uint64_t position = pickle.position();
  for (const Object* key : list->items) {
    const auto* const text = key->as<std::string>();
    const auto found = text ? indices.find(*text) : indices.end();
    if (found == indices.end()) raise_value_error(where, "it has a storage that no tensor uses");
    const Storage& storage = pickle.storages()[found->second];
    StorageMemory& memory = table[found->second];
    if (memory.buffer) raise_value_error(where, "the storage " + in_quotes(*text) + " occurs twice");
    memory = legacy_storage(input, position, storage);
    position += sizeof(int64_t) + memory.size;
  }
  return table;
}

/// The number by which files of torch before 1.6 begin.
bool is_legacy_magic(const Object& object) {
  constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  const auto* const number = object.as<Object::BigInteger>();
  return number && number->bytes == kMagic;
}

void check_legacy_order(const Object& system, const std::string& where) {
  const auto* const mapping = system.as<Object::Mapping>();
  if (!mapping) raise_value_error(where, "damaged torch file: its third pickle is no mapping");
  for (const auto& [key, value] : mapping->items) {
    const auto* const name = key->as<std::string>();
    const auto* const flag = value->as<Scalar>();
    if (name && *name == "little_endian" && !(flag && flag->as_bool())) {
      raise_value_error(where, "its byte order is not little-endian");
    }
  }
}

}  // namespace

void check_byte_order(const ZipArchive& archive, const std::string& folder, const std::string& where) {
  const ZipEntry* const order = archive.find(folder + "byteorder");
  if (!order) return;
  const BufferHandle text = archive.unpack(*order);
  const std::string_view found(static_cast<const char*>(text->data()), text->bytes());
  if (found != "little") {
    raise_value_error(where, "its byte order is " + in_quotes(found) + "; 'little' can be read");
  }
}

StorageMemory memory_of(const Input& input, const ZipArchive& archive, const ZipEntry& entry) {
  if (entry.deflated) return {archive.unpack(entry), 0, entry.size};
  return memory_at(input, entry.data, entry.size);
}

Value read_torch_zip(const Input& input) {
  const std::string& where = input.where();
  const ZipArchive archive(input.bytes(), where);
  const std::string folder(folder_of_pickle(archive, where));
  check_archive(archive, folder, where);
  const BufferHandle program = archive.unpack(*archive.find(folder + "data.pkl"));
  Pickle pickle({static_cast<const uint8_t*>(program->data()), program->bytes()}, where);
  const Object& root = pickle.next();

  StorageTable table(pickle.storages().size());
  std::map<const ZipEntry*, StorageMemory> unpacked;
  for (size_t i = 0; i < table.size(); ++i) {
    const Storage& storage = pickle.storages()[i];
    const ZipEntry* const entry = archive.find(folder + "data/" + storage.key);
    if (!entry) raise_value_error(where, "the archive lacks the storage " + in_quotes(storage.key));
    check_size(where, storage, entry->size);
    const auto [found, is_new] = unpacked.try_emplace(entry);
    if (is_new) found->second = memory_of(input, archive, *entry);
    table[i] = found->second;
  }
  return to_value(root, pickle.storages(), table, where);
}

Value read_torch_legacy(const Input& input) {
  const std::string& where = input.where();
  Pickle pickle(input.bytes(), where);
  if (!is_legacy_magic(pickle.next())) {
    raise_value_error(where,
                      "is a pickle that torch.save() did not write; save the weights with torch.save() or "
                      "safetensors");
  }
  constexpr int64_t kVersion = 1001;
  const auto* const version = pickle.next().as<Scalar>();
  if (!version || version->as_int64() != kVersion)
    raise_value_error(where, "damaged torch file: its version is not 1001");
  check_legacy_order(pickle.next(), where);
  const Object& root = pickle.next();
  const Object& keys = pickle.next();
  const StorageTable table = legacy_storages(input, pickle, keys);
  return to_value(root, pickle.storages(), table, where);
}

}  // namespace iruka::nn
