// Malicious and damaged files of weights: each is refused by a message that names what is wrong, and nothing runs.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <protozero/pbf_writer.hpp>

#include "error_of.h"
#include "nn/files/graph_file.h"
#include "nn_files.h"

namespace {

namespace fs = std::filesystem;
using iruka::nn::load_graph;
using iruka::nn::load_weights;
using iruka::test::error_of;
using nn_files::Bytes;
using nn_files::bytes;
using nn_files::PickleWriter;
using nn_files::safetensors;
using nn_files::torch_zip;
using nn_files::ZipEntry;

/// What load_weights() says of the file, without the function's name.
std::string refusal(const Bytes& file) {
  const std::string text = error_of<iruka::ValueError>([&] { load_weights(file); });
  const std::string prefix = "load_weights: ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}
std::string pickle_refusal(const Bytes& pickle) { return refusal(torch_zip(pickle)); }

/// A file that a command given to a shell would make.
class Canary {
 public:
  Canary() : path_(fs::temp_directory_path() / ("iruka-canary-" + std::to_string(::getpid()))) {}
  ~Canary() { EXPECT_FALSE(fs::exists(path_)); }
  std::string command() const { return "touch " + path_.string(); }

 private:
  fs::path path_;
};

TEST(HostilePickle, CallsAreRefusedByName) {
  const Canary canary;
  const std::string attack =
      ", which no file of weights needs; nothing was executed. It may be an attack: do not load it with torch";
  const struct {
    const char *module, *name;
  } functions[] = {{"os", "system"},        {"posix", "system"},     {"builtins", "eval"},
                   {"builtins", "exec"},    {"builtins", "getattr"}, {"__builtin__", "eval"},
                   {"subprocess", "Popen"}, {"runpy", "run_module"}, {"operator", "attrgetter"}};
  for (auto [module, name] : functions) {
    const std::string refers = std::string("the pickle refers to '") + module + "." + name + "'" + attack;
    const std::string command = canary.command();
    // REDUCE, STACK_GLOBAL, NEWOBJ and INST each make the call.
    EXPECT_EQ(pickle_refusal(PickleWriter().global(module, name).raw("(").text(command).raw("tR").stop()), refers);
    EXPECT_EQ(pickle_refusal(PickleWriter().text(module).text(name).raw("\x93(").text(command).raw("tR").stop()),
              refers);
    EXPECT_EQ(pickle_refusal(PickleWriter().global(module, name).raw("(").text(command).raw("t\x81").stop()), refers);
    EXPECT_EQ(pickle_refusal(
                  PickleWriter().raw("(").text(command).raw(std::string("i") + module + "\n" + name + "\n").stop()),
              refers);
    // A pickle that is no archive, and the old format.
    EXPECT_EQ(refusal(PickleWriter().global(module, name).raw("(").text(command).raw("tR").stop()), refers);
  }
}

TEST(HostilePickle, OtherWaysToCallAreRefused) {
  const std::string nothing = ". Nothing was executed";
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("(").global("collections", "OrderedDict").raw("o").stop()),
            "the pickle makes an object by OBJ" + nothing);
  EXPECT_EQ(pickle_refusal(PickleWriter().global("collections", "OrderedDict").raw(")}\x92").stop()),
            "the pickle makes an object by NEWOBJ_EX" + nothing);
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("\x82\x01").stop()),
            "the pickle refers to the registry of extensions by EXT1" + nothing);
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("P0\n").stop()), "the pickle has a persistent id in text" + nothing);
  EXPECT_EQ(pickle_refusal(PickleWriter().text("os.system").raw("(").text("x").raw("tR").stop()),
            "the pickle calls a text, not a global");
  EXPECT_EQ(pickle_refusal(PickleWriter().integer(1).text("system").raw("\x93").stop()),
            "the pickle names a global by a number and a text, not by texts");
  // BUILD on what is no OrderedDict, and with a state that would set slots.
  EXPECT_EQ(
      pickle_refusal(PickleWriter().global("torch", "Tensor").raw("}b").stop()),
      "the pickle sets the state of a global to a mapping; only an OrderedDict's attributes are expected. Nothing "
      "was executed");
  EXPECT_EQ(pickle_refusal(PickleWriter()
                               .global("collections", "OrderedDict")
                               .raw(")RN}\x86"
                                    "b")
                               .stop()),
            "the pickle sets the state of a mapping to a tuple; only an OrderedDict's attributes are expected. Nothing "
            "was executed");
  // A dotted name cannot reach a module through an allowed one.
  EXPECT_NE(pickle_refusal(PickleWriter().global("torch", "serialization.os.system").stop())
                .find("refers to 'torch.serialization.os.system', which has no counterpart here"),
            std::string::npos);
  EXPECT_EQ(
      pickle_refusal(PickleWriter().global("_codecs", "encode").raw("(").text("x").text("rot13").raw("tR").stop()),
      "the pickle calls '_codecs.encode' for something else than bytes" + nothing);
}

TEST(HostilePickle, WholeObjectsAreRefusedWithAdvice) {
  EXPECT_EQ(
      refusal(nn_files::read(nn_files::data_path("whole_module.pt"))),
      "the pickle refers to 'torch.nn.modules.container.Sequential', so it holds a whole object of Python, not its "
      "weights alone; nothing was executed. Where the object's code is at hand, save torch.save(model.state_dict(), "
      "path) or the network as ONNX");
  EXPECT_NE(refusal(nn_files::read(nn_files::data_path("script.pt"))).find("is a TorchScript program (torch.jit.save)"),
            std::string::npos);
  EXPECT_NE(pickle_refusal(PickleWriter().global("numpy.core.multiarray", "scalar").stop()).find("NumPy's"),
            std::string::npos);
  EXPECT_NE(pickle_refusal(PickleWriter().global("torch", "float8_e4m3fn").stop()).find("has no dtype here"),
            std::string::npos);
  // A tensor whose elements are the conjugates of those in its storage.
  PickleWriter conjugated;
  conjugated.global("torch._utils", "_rebuild_tensor_v2")
      .raw("((")
      .text("storage")
      .global("torch", "ComplexFloatStorage");
  conjugated.text("0").text("cpu").big(1).raw("tQ").big(0).integers({1}).integers({1}).raw("\x89");
  conjugated.global("collections", "OrderedDict").raw(")R}").text("conj").raw("\x88stR");
  EXPECT_EQ(pickle_refusal(conjugated.stop()),
            "a tensor is lazily conjugated or negated; save tensor.resolve_conj().resolve_neg()");
  EXPECT_EQ(refusal(nn_files::read(nn_files::data_path("program.pt2"))),
            "is a program of torch.export, a graph of operators; load_model() reads it");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("\x8f").stop()),
            "the pickle holds a set; save a list. Nothing was executed");
}

TEST(HostilePickle, DamageIsRefused) {
  EXPECT_EQ(pickle_refusal(PickleWriter()
                               .raw("X\xff\xff\xff\xff"
                                    "abc")
                               .stop()),
            "damaged pickle near byte 7: 4294967295 bytes are to follow, and 4 do");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw(std::string_view("\x8d\xff\xff\xff\xff\xff\xff\xff\xff", 9)).stop()),
            "damaged pickle near byte 11: 18446744073709551615 bytes are to follow, and 1 do");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("\x8b\xff\xff\xff\x7f").stop()),
            "damaged pickle near byte 7: 2147483647 bytes are to follow, and 1 do");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("Y").stop()), "damaged pickle near byte 3: there is no opcode 89");
  EXPECT_EQ(
      pickle_refusal(PickleWriter().raw("I1\n").stop()),
      "the pickle is of protocol 0 or 1 (opcode 'I'); 2 to 5 are read. Save it again with torch.save()'s defaults");
  EXPECT_EQ(pickle_refusal(bytes("\x80\x07N.")), "the pickle is of protocol 7, not 2 to 5");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("h\x05").stop()),
            "damaged pickle near byte 4: it refers to object 5, which it did not keep");
  EXPECT_EQ(pickle_refusal(PickleWriter().stop()),
            "damaged pickle near byte 3: it takes an object from an empty stack");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("N(0").stop()),
            "damaged pickle near byte 5: it takes an object from an empty stack");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("t").stop()), "damaged pickle near byte 3: it lacks a mark");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("}(NNNu").stop()), "damaged pickle near byte 8: a key lacks its value");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw(")Na").stop()), "the pickle appends to a tuple, not to a list");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("]NNs").stop()), "the pickle sets items of a list, not of a mapping");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("cos").stop()), "damaged pickle near byte 3: a line has no end");
  EXPECT_EQ(pickle_refusal(PickleWriter().text("\xc3").stop()), "damaged pickle near byte 8: a text is not UTF-8");
  EXPECT_EQ(pickle_refusal(PickleWriter().raw("}]Ns").stop()),
            "what it holds has a key that is a list; texts and numbers can be read");
  EXPECT_EQ(pickle_refusal(PickleWriter()
                               .raw("\x8a\x0a"
                                    "0123456789")
                               .stop()),
            "what it holds is an integer of 80 bits; 64 can be read");
}

TEST(HostilePickle, BombsAreRefused) {
  // A list inside itself; lists of two references to the list before, which would be 2^60 values.
  const std::string deep = "containers are nested more than 64 deep, or contain themselves";
  EXPECT_EQ(pickle_refusal(PickleWriter().raw(std::string_view("]q\0h\0a", 6)).stop()), deep);
  PickleWriter doubled, nested;
  doubled.raw("]");
  for (int i = 0; i < 60; ++i)
    doubled.raw(
        "q\x01"
        "0](h\x01h\x01"
        "e");
  EXPECT_EQ(pickle_refusal(doubled.stop()), "the pickle repeats its objects to more than 4194304 values");
  for (int i = 0; i < 100000; ++i) nested.raw("]");
  nested.raw(std::string(99999, 'a'));
  EXPECT_EQ(pickle_refusal(nested.stop()), deep);
  // A long text that a list has many times, and an endless number of objects.
  PickleWriter repeated, endless;
  repeated.text(std::string(1 << 20, 'x'))
      .raw(
          "q\x01"
          "0](")
      .raw([] {
        std::string gets;
        for (int i = 0; i < 100000; ++i) gets += "h\x01";
        return gets;
      }());
  EXPECT_EQ(pickle_refusal(repeated.raw("e").stop()), "the pickle repeats its objects to more than 4194304 values");
  endless.raw(std::string(5 << 20, 'N'));
  EXPECT_EQ(pickle_refusal(endless.stop()), "the pickle has more than 4194304 steps");
  // An OrderedDict of the same 100000 pairs again and again.
  PickleWriter copies;
  copies.raw("](");
  for (int i = 0; i < 100000; ++i) copies.raw("NN\x86");
  copies.raw("eq\x01").global("collections", "OrderedDict").raw("q\x02");
  for (int i = 0; i < 1000; ++i) copies.raw("h\x02h\x01\x85R0");
  EXPECT_EQ(pickle_refusal(copies.stop()), "the pickle has more than 4194304 steps");
}

std::string tensor_refusal(int64_t elements, int64_t offset, const std::vector<int64_t>& shape,
                           const std::vector<int64_t>& strides, const std::string& storage = "FloatStorage") {
  const Bytes pickle =
      PickleWriter().raw("}").text("w").tensor("0", elements, offset, shape, strides, storage).raw("s").stop();
  return refusal(torch_zip(pickle, {{"0", Bytes(16, 2)}}));
}

TEST(HostilePickle, TensorsStayInTheirStorage) {
  const std::string of_four = " leaves its storage '0' of 4 elements";
  EXPECT_EQ(tensor_refusal(4, 0, {4}, {1}), "no error");
  EXPECT_EQ(tensor_refusal(4, 3, {1, 1}, {INT64_MAX, INT64_MAX}), "no error");
  EXPECT_EQ(tensor_refusal(4, 4, {0}, {1}), "no error");
  EXPECT_EQ(tensor_refusal(4, 0, {5}, {1}), "tensor 'w' of shape (5,), strides (1,) and offset 0" + of_four);
  EXPECT_EQ(tensor_refusal(4, 1, {4}, {1}), "tensor 'w' of shape (4,), strides (1,) and offset 1" + of_four);
  EXPECT_EQ(tensor_refusal(4, 5, {0}, {1}), "tensor 'w' of shape (0,), strides (1,) and offset 5" + of_four);
  EXPECT_EQ(tensor_refusal(4, INT64_MAX, {2}, {1}),
            "tensor 'w' of shape (2,), strides (1,) and offset 9223372036854775807" + of_four);
  EXPECT_EQ(tensor_refusal(4, 0, {2, 2}, {INT64_MAX, INT64_MAX}),
            "tensor 'w' of shape (2, 2), strides (9223372036854775807, 9223372036854775807) and offset 0" + of_four);
  EXPECT_EQ(tensor_refusal(4, -1, {1}, {1}), "tensor 'w' has the negative offset -1");
  EXPECT_EQ(tensor_refusal(4, 3, {4}, {-1}), "tensor 'w' has the negative stride -1");
  EXPECT_EQ(tensor_refusal(4, 0, {-4}, {1}), "tensor 'w' has the negative extent -4");
  EXPECT_EQ(tensor_refusal(4, 0, {2}, {1, 1}), "tensor 'w' has 1 extents and 2 strides");
  EXPECT_EQ(tensor_refusal(4, 0, {INT64_MAX, INT64_MAX}, {0, 0}),
            "tensor 'w' has shape (9223372036854775807, 9223372036854775807), whose bytes are more than 2^63 - 1");
  EXPECT_EQ(tensor_refusal(5, 0, {4}, {1}), "the storage '0' of 5 elements needs 20 bytes, and the file has 16");
  EXPECT_EQ(tensor_refusal(-1, 0, {4}, {1}), "the storage '0' claims -1 elements");
  EXPECT_EQ(tensor_refusal(INT64_MAX, 0, {4}, {1}), "the storage '0' claims 9223372036854775807 elements");
  EXPECT_EQ(tensor_refusal(16, 0, {4}, {1}, "BoolStorage"),
            "tensor 'w' holds the byte 2 among its bools, whose bytes are 0 or 1");
  EXPECT_NE(tensor_refusal(4, 0, std::vector<int64_t>(33, 1), std::vector<int64_t>(33, 1)).find("32 axes at most"),
            std::string::npos);
  EXPECT_EQ(refusal(torch_zip(PickleWriter().tensor("1", 4, 0, {4}, {1}).stop(), {{"0", Bytes(16)}})),
            "the archive lacks the storage '1'");
  EXPECT_EQ(refusal(torch_zip(PickleWriter().tensor("../version", 0, 0, {0}, {1}).stop())),
            "the archive lacks the storage '../version'");
}

std::string zip_refusal(const std::vector<ZipEntry>& entries, uint64_t count = UINT64_MAX) {
  return refusal(nn_files::zip(entries, count));
}

TEST(HostileZip, EntriesStayInTheFileAndApart) {
  const Bytes none = PickleWriter().raw("N").stop();
  const std::string damaged = "damaged zip archive: ";
  EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = none}}), "no error");
  EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = none}, {.name = "a/b", .data = none, .offset = 0}}),
            damaged + "the entry 'a/b' has another name in its own header");
  EXPECT_EQ(zip_refusal({{.name = "a/b", .data = none}, {.name = "a/b", .data = none}}),
            damaged + "the entry 'a/b' occurs twice");
  EXPECT_EQ(zip_refusal({{.name = "a", .data = none, .offset = 0xfffffff0}}),
            damaged + "the entry 'a' lies outside the file");
  EXPECT_EQ(zip_refusal({{.name = "a", .data = none, .offset = 1}}),
            damaged + "the entry 'a' has no header at its place");
  EXPECT_EQ(zip_refusal({{.name = "a", .data = none, .size = 5}}), damaged + "the entry 'a' has two sizes");
  EXPECT_EQ(zip_refusal({{.name = "a", .data = none, .flags = 1}}), damaged + "the entry 'a' is encrypted");
  EXPECT_EQ(zip_refusal({{.name = "a", .data = none, .method = 12}}),
            damaged + "the entry 'a' is packed by method 12; stored (0) and deflate (8) can be read");
  for (const char* name : {"../a", "a/../b", "/etc/passwd", "a\\..\\b", ".."}) {
    EXPECT_EQ(zip_refusal({{.name = name, .data = none}}),
              damaged + "the entry's name '" + name + "' does not stay inside the archive");
  }
  EXPECT_EQ(zip_refusal({{.name = "a", .data = none}}, 60000).substr(0, 59),
            damaged + "it claims 60000 entries in a directory");
  EXPECT_EQ(refusal(bytes("PK\x03\x04")),
            damaged + "it has no directory at its end; it may be cut short at its 4 bytes");
}

/// An archive whose second entry begins inside the first one's data, under a header of its own.
TEST(HostileZip, OverlapsAreRefused) {
  const Bytes inner = nn_files::zip({{.name = "a/inner", .data = bytes("text")}});
  Bytes file =
      nn_files::zip({{.name = "a/outer", .data = inner}, {.name = "a/inner", .data = bytes("text"), .offset = 64}});
  EXPECT_EQ(refusal(file), "damaged zip archive: the entries 'a/outer' and 'a/inner' overlap");
}

TEST(HostileZip, BombsAreRefused) {
  const Bytes zeros(size_t{80} << 20);
  EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = zeros, .deflated = true}}),
            "damaged zip archive: its entries unpack to more than 67108864 bytes, which is not how weights compress");
  EXPECT_NE(zip_refusal({{.name = "a/data.pkl", .data = Bytes(1000), .deflated = true, .size = 0xf0000000}})
                .find("which deflate cannot do"),
            std::string::npos);
  // Sizes and checksums that the unpacked bytes do not have.
  const std::string damaged = "damaged zip archive: the entry 'a/data.pkl' is damaged: it does not unpack to the ";
  for (uint64_t size : {999, 1001}) {
    EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = Bytes(1000), .deflated = true, .size = size}}),
              damaged + std::to_string(size) + " bytes of its checksum");
  }
  EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = Bytes(1000), .deflated = true, .checksum = 1}}),
            damaged + "1000 bytes of its checksum");
}

TEST(HostileZip, ArchivesOfOtherKindsAreNamed) {
  EXPECT_EQ(zip_refusal({{.name = "x.npy", .data = {}}}), "is an archive of NumPy arrays; iruka.load reads it");
  EXPECT_EQ(zip_refusal({{.name = "m/models/model.json", .data = {}}}),
            "is a program of torch.export, a graph of operators; load_model() reads it");
  EXPECT_EQ(zip_refusal({{.name = "word/document.xml", .data = {}}}),
            "is a zip archive that torch.save() did not write: it has no data.pkl among 'word/document.xml'");
  EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = {}}, {.name = "b/data.pkl", .data = {}}}),
            "the archive has two files data.pkl");
  EXPECT_EQ(zip_refusal({{.name = "a/data.pkl", .data = {}}, {.name = "a/byteorder", .data = bytes("big")}}),
            "its byte order is 'big'; 'little' can be read");
}

TEST(HostileSafetensors, HeadersAreChecked) {
  const std::string damaged = "damaged safetensors file: ";
  const std::string entry = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(refusal(safetensors(entry, Bytes(8))), "no error");
  EXPECT_EQ(refusal(safetensors(entry, Bytes(8), uint64_t{1} << 63)),
            damaged + "its header has 9223372036854775808 bytes; 62 follow, and the format allows 100000000");
  EXPECT_EQ(refusal(safetensors(entry, Bytes(8), 1000)),
            damaged + "its header has 1000 bytes; 62 follow, and the format allows 100000000");
  EXPECT_EQ(refusal(safetensors("{\"w\":", Bytes(8))), damaged + "its header is no JSON from byte 14 on");
  EXPECT_EQ(refusal(safetensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{}})", Bytes(8))),
            damaged + "the name 'w' occurs twice");
  auto with = [](const std::string& fields, size_t size = 8) {
    return refusal(safetensors("{\"w\":{" + fields + "}}", Bytes(size, 7)));
  };
  EXPECT_EQ(with(R"("dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8])"),
            "tensor 'w' has two fields 'dtype'");
  EXPECT_EQ(with(R"("shape":[2],"data_offsets":[0,8])"), "tensor 'w' lacks the field 'dtype'");
  EXPECT_EQ(with(R"("dtype":"F32","data_offsets":[0,8])"), "tensor 'w' lacks the field 'shape'");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[2])"), "tensor 'w' lacks the field 'data_offsets'");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1)"), "tensor 'w' has the unknown field 'x'");
  EXPECT_EQ(with(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"),
            "tensor 'w' is of type 'F8_E4M3', which has no dtype here; save it as F32, F16 or BF16");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "tensor 'w' has -2 in its field 'shape'");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[2.5],"data_offsets":[0,8])"), "tensor 'w' has 2.5 in its field 'shape'");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), "tensor 'w' has a list in its field 'shape'");
  EXPECT_EQ(with(R"("dtype":"F32","shape":{"a":1},"data_offsets":[0,8])"),
            "tensor 'w' has an object in its field 'shape'");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"),
            "tensor 'w' has the number 18446744073709551615, which exceeds 63 bits");
  EXPECT_EQ(with(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])"),
            "tensor 'w' has shape (4611686018427387904, 4), whose bytes are more than 2^63 - 1");
  EXPECT_EQ(with(R"("dtype":"BOOL","shape":[8],"data_offsets":[0,8])"),
            "tensor 'w' holds the byte 7 among its bools, whose bytes are 0 or 1");
  EXPECT_NE(
      refusal(safetensors("{\"w\":{\"shape\":[" + std::string(1 << 20, '['), Bytes(8))).find("has a list in its field"),
      std::string::npos);
}

TEST(HostileSafetensors, RangesFillTheData) {
  auto with = [](const std::string& first, const std::string& second, size_t size) {
    const std::string type = R"("dtype":"U8","shape":[4],"data_offsets":)";
    return refusal(safetensors("{\"a\":{" + type + first + "},\"b\":{" + type + second + "}}", Bytes(size)));
  };
  EXPECT_EQ(with("[4,8]", "[0,4]", 8), "no error");
  EXPECT_EQ(with("[0,4]", "[2,6]", 6), "tensor 'b' begins at byte 2, and the one before it ends at 4: they overlap");
  EXPECT_EQ(with("[0,4]", "[0,4]", 4), "tensor 'b' begins at byte 0, and the one before it ends at 4: they overlap");
  EXPECT_EQ(with("[0,4]", "[5,9]", 9), "tensor 'b' begins at byte 5, and the one before it ends at 4: there is a gap");
  EXPECT_EQ(with("[0,4]", "[4,8]", 9), "damaged safetensors file: its tensors end at byte 8 of 9 bytes of data");
  EXPECT_EQ(with("[0,4]", "[4,8]", 7), "damaged safetensors file: its tensors end at byte 8 of 7 bytes of data");
  EXPECT_EQ(with("[0,4]", "[4,9]", 9), "tensor 'b' needs 4 bytes, and its data_offsets are (4, 9)");
  EXPECT_EQ(with("[0,4]", "[8,4]", 8), "tensor 'b' needs 4 bytes, and its data_offsets are (8, 4)");
  EXPECT_EQ(with("[0,4]", "[4]", 8), "tensor 'b' needs 4 bytes, and its data_offsets are (4,)");
}

TEST(HostileFiles, OtherFormatsAreNamed) {
  EXPECT_EQ(refusal({}), "is empty");
  EXPECT_EQ(refusal(bytes("\x89HDF\r\n\x1a\n and more")),
            "is an HDF5 file (Keras); export the network as ONNX or its weights as safetensors");
  EXPECT_EQ(refusal(bytes("version https://git-lfs.github.com/spec/v1\n")),
            "is a pointer of Git LFS, not the file itself; run git lfs pull");
  EXPECT_EQ(refusal(bytes("<!DOCTYPE html>")), "is a page of HTML or XML, perhaps that of a failed download");
  EXPECT_EQ(refusal(bytes("hello, world")),
            "is no file of weights or networks that can be read (.safetensors, .pt, .pth, .pt2, .onnx): its 12 bytes "
            "begin with "
            "'hello, w'");
  EXPECT_EQ(refusal(PickleWriter().raw("}").stop()),
            "is a pickle that torch.save() did not write; save the weights with torch.save() or safetensors");
  EXPECT_EQ(refusal(nn_files::read(nn_files::data_path("perceptron.onnx"))),
            "is an ONNX model, a graph of operators; load_model() reads it");
}

/// Every file cut short at every byte: an error, never a crash.
TEST(HostileFiles, CutShort) {
  for (const char* name : {"dtypes.safetensors", "tensors_legacy.pt", "state_dict.pt"}) {
    const Bytes whole = nn_files::read(nn_files::data_path(name));
    ASSERT_FALSE(whole.empty());
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "no error")
          << name << size;
    }
  }
  for (const char* name : {"attributes.onnx", "dtypes_raw.onnx"}) {
    const Bytes whole = nn_files::read(nn_files::data_path(name));
    for (size_t size = 0; size < whole.size(); ++size) {
      try {
        load_graph("test", std::span(whole).first(size));
      } catch (const iruka::ValueError&) {
      }
    }
  }
}

class HostileOnnx : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "iruka-nn-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "model");
    std::ofstream(folder_ / "secret") << "secret";
    std::ofstream(folder_ / "model/data") << "12345678";
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// What loading a model with one initializer says, whose data are outside. The model lies in the folder "model".
  std::string external(const std::string& location, const std::string& offset = "", const std::string& length = "") {
    const std::string tensor = initializer([&](protozero::pbf_writer& writer) {
      writer.add_int64(14, 1);
      add_pair(writer, "location", location);
      if (!offset.empty()) add_pair(writer, "offset", offset);
      if (!length.empty()) add_pair(writer, "length", length);
    });
    const fs::path path = folder_ / "model/model.onnx";
    const std::string model = model_of(tensor);
    std::ofstream(path, std::ios::binary) << model;
    const std::string text = error_of<iruka::Error>([&] { load_graph("test", path.string()); });
    const std::string prefix = "test: '" + path.string() + "': ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }

  static void add_pair(protozero::pbf_writer& writer, const std::string& key, const std::string& value) {
    protozero::pbf_writer entry(writer, 13);
    entry.add_string(1, key);
    entry.add_string(2, value);
  }

  /// Two float32 named "w" whose data `fill` adds.
  template <class Fill>
  static std::string initializer(Fill fill, const std::vector<int64_t>& dims = {2}, int32_t type = 1) {
    std::string text;
    protozero::pbf_writer writer(text);
    writer.add_packed_int64(1, dims.begin(), dims.end());
    writer.add_int32(2, type);
    writer.add_string(8, "w");
    fill(writer);
    return text;
  }

  static std::string model_of(const std::string& tensor) {
    std::string graph, model;
    protozero::pbf_writer(graph).add_message(5, tensor);
    protozero::pbf_writer(model).add_message(7, graph);
    return model;
  }

  static std::string refusal_of(const std::string& tensor) {
    const Bytes model = bytes(model_of(tensor));
    const std::string text = error_of<iruka::ValueError>([&] { load_graph("test", model); });
    return text.starts_with("test: ") ? text.substr(6) : text;
  }

  fs::path folder_;
};

TEST_F(HostileOnnx, ExternalDataStayInTheModelsFolder) {
  const std::string path = "a location is a path inside the model's folder, without '..', '.' and a leading '/'";
  EXPECT_EQ(external("data"), "no error");
  EXPECT_EQ(external("data", "0", "8"), "no error");
  for (const char* location : {"../../etc/passwd", "../secret", "/etc/passwd", "", ".", "a/../../secret", "a//b"}) {
    EXPECT_EQ(external(location),
              std::string("its tensors' data are in '") + location + "', which is not read: " + path);
  }
  fs::create_symlink("../secret", folder_ / "model/link");
  fs::create_directory_symlink("..", folder_ / "model/up");
  EXPECT_EQ(external("link"),
            "its tensors' data are in 'link', which is not read: 'link' is a symbolic link or no folder, and links are "
            "not followed");
  EXPECT_EQ(external("up/secret"),
            "its tensors' data are in 'up/secret', which is not read: 'up' is a symbolic link or no folder, and links "
            "are not followed");
  fs::create_directory(folder_ / "model/folder");
  ASSERT_EQ(::mkfifo((folder_ / "model/pipe").c_str(), 0600), 0);
  EXPECT_EQ(external("folder"), "its data 'folder': is a folder, not a file");
  EXPECT_EQ(external("pipe"), "its data 'pipe': is a device or pipe, not a file");
  EXPECT_EQ(external("missing"), "cannot open its data 'missing': No such file or directory");
  const Bytes model = bytes(model_of(initializer([](auto& writer) {
    writer.add_int64(14, 1);
    add_pair(writer, "location", "data");
  })));
  EXPECT_EQ(
      error_of<iruka::ValueError>([&] { load_graph("test", model); }),
      "test: its tensors' data are in 'data', which is not read: the model was given as bytes, so there is no folder "
      "to look in; give the path");
}

TEST_F(HostileOnnx, ExternalDataStayInTheirFile) {
  EXPECT_EQ(external("data", "1"), "tensor 'w' needs 8 bytes from byte 1 on of 'data', which has 8");
  EXPECT_EQ(external("data", "18446744073709551615"),
            "tensor 'w' needs 8 bytes from byte 18446744073709551615 on of 'data', which has 8");
  EXPECT_EQ(external("data", "0", "9"),
            "tensor 'w' needs 8 bytes from byte 0 on of 'data', which has 8; its length is 9");
  EXPECT_EQ(external("data", "-1"), "tensor 'w' has the offset '-1', which is no number of bytes");
  EXPECT_EQ(external("data", "99999999999999999999"),
            "tensor 'w' has the offset '99999999999999999999', which is no number of bytes");
}

TEST_F(HostileOnnx, TensorsHaveTheirBytes) {
  auto nothing = [](protozero::pbf_writer&) {};
  auto raw = [](size_t size) {
    return [=](protozero::pbf_writer& writer) { writer.add_bytes(9, std::string(size, '\2')); };
  };
  EXPECT_EQ(refusal_of(initializer(raw(8))), "no error");
  EXPECT_EQ(refusal_of(initializer(raw(9))), "tensor 'w' of shape (2,) and dtype float32 has 9 bytes");
  EXPECT_EQ(refusal_of(initializer(nothing)), "tensor 'w' of shape (2,) and dtype float32 has 0 numbers");
  EXPECT_EQ(refusal_of(initializer(raw(8), {-2})), "tensor 'w' has the negative extent -2");
  EXPECT_EQ(refusal_of(initializer(raw(8), {int64_t{1} << 32, int64_t{1} << 32})),
            "tensor 'w' has shape (4294967296, 4294967296), whose bytes are more than 2^63 - 1");
  EXPECT_EQ(refusal_of(initializer(raw(8), {0, int64_t{1} << 32, int64_t{1} << 32})),
            "tensor 'w' has shape (0, 4294967296, 4294967296), whose bytes are more than 2^63 - 1");
  EXPECT_EQ(refusal_of(initializer(raw(8), std::vector<int64_t>(33, 1))),
            "tensor 'w' has 33 axes; an array has 32 at most");
  EXPECT_EQ(refusal_of(initializer(raw(2), {2}, 17)), "tensor 'w' is of type FLOAT8E4M3FN, which has no dtype here");
  EXPECT_EQ(refusal_of(initializer(raw(2), {2}, 8)), "tensor 'w' is of type STRING, which has no dtype here");
  EXPECT_EQ(refusal_of(initializer(raw(2), {2}, 99)),
            "tensor 'w' is of type the unknown type 99, which has no dtype here");
  EXPECT_EQ(refusal_of(initializer(raw(2), {2}, 9)),
            "tensor 'w' holds the byte 2 among its bools, whose bytes are 0 or 1");
  const int32_t beyond[] = {1, 256};
  EXPECT_EQ(
      refusal_of(initializer([&](auto& w) { w.add_packed_int32(5, std::begin(beyond), std::end(beyond)); }, {2}, 2)),
      "tensor 'w' holds 256, which is no uint8");
}

TEST_F(HostileOnnx, GraphsAreChecked) {
  auto node = [](const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    std::string text;
    protozero::pbf_writer writer(text);
    for (const std::string& input : inputs) writer.add_string(1, input);
    writer.add_string(2, output);
    writer.add_string(4, op);
    return text;
  };
  auto refusal = [](const std::vector<std::string>& nodes) {
    std::string graph, model;
    protozero::pbf_writer writer(graph);
    for (const std::string& text : nodes) writer.add_message(1, text);
    protozero::pbf_writer(model).add_message(7, graph);
    return error_of<iruka::ValueError>([&] { load_graph("test", bytes(model)); });
  };
  EXPECT_EQ(refusal({node("Constant", {}, "a"), node("Relu", {"a"}, "b")}), "no error");
  EXPECT_EQ(refusal({node("Relu", {"a"}, "b"), node("Constant", {}, "a")}),
            "test: ONNX model: the node '' ('Relu') uses 'a', which nothing before it gives");
  EXPECT_EQ(refusal({node("Relu", {"b"}, "b")}),
            "test: ONNX model: the node '' ('Relu') uses 'b', which nothing before it gives");
  EXPECT_EQ(refusal({node("Constant", {}, "a"), node("Constant", {}, "a")}),
            "test: ONNX model: the node '' ('Constant') gives 'a' a second time");
  EXPECT_EQ(refusal({node("", {}, "a")}), "test: ONNX model: the node '' names no operator");
  // A graph in an attribute of a node of a graph in an attribute...
  std::string inner = node("Constant", {}, "a");
  for (int depth = 0; depth < 40; ++depth) {
    std::string graph, attribute, outer = node("If", {}, "a");
    protozero::pbf_writer(graph).add_message(1, inner);
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, "then_branch");
    writer.add_message(6, graph);
    writer.add_int32(20, 5);
    protozero::pbf_writer(outer).add_message(5, attribute);
    inner = outer;
  }
  EXPECT_EQ(refusal({inner}), "test: ONNX model: its graphs are nested more than 32 deep");
  EXPECT_EQ(error_of<iruka::ValueError>([] { load_graph("test", bytes("\x3a\x02\x0a\xff")); }),
            "test: damaged ONNX model: it is cut short: its 4 bytes end within what they announce");
}

TEST(HostileFiles, PathsAreChecked) {
  EXPECT_EQ(error_of<iruka::FileError>([] { load_weights("/nonexistent/file.pt"); }),
            "load_weights: '/nonexistent/file.pt': cannot open: No such file or directory");
  EXPECT_EQ(error_of<iruka::FileError>([] { load_weights("/"); }), "load_weights: '/': is a folder, not a file");
  EXPECT_EQ(error_of<iruka::FileError>([] { load_weights("/dev/zero"); }),
            "load_weights: '/dev/zero': is a device or pipe, not a file");
  EXPECT_EQ(error_of<iruka::ValueError>([] { load_weights(std::string("a\0b", 3)); }),
            "load_weights: the path holds a NUL byte");
}

}  // namespace
