#include "nn/files/pickle_globals.h"

#include <algorithm>
#include <array>

#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr std::array kGlobals = {
    Global{"collections", "OrderedDict", Role::ordered_mapping},
    Global{"torch", "Size", Role::size},
    Global{"torch", "device", Role::device},
    Global{"builtins", "complex", Role::complex},
    Global{"__builtin__", "complex", Role::complex},  // Python 2's name, which protocol 2 writes
    Global{"_codecs", "encode", Role::encode},
    Global{"builtins", "bytes", Role::empty_bytes},
    Global{"__builtin__", "bytes", Role::empty_bytes},
    Global{"torch._utils", "_rebuild_tensor", Role::rebuild_tensor},
    Global{"torch._utils", "_rebuild_tensor_v2", Role::rebuild_tensor_v2},
    Global{"torch._utils", "_rebuild_tensor_v3", Role::rebuild_tensor_v3},
    Global{"torch._utils", "_rebuild_parameter", Role::rebuild_parameter},
    Global{"torch._utils", "_rebuild_parameter_with_state", Role::rebuild_parameter},
    Global{"torch._tensor", "_rebuild_from_type_v2", Role::rebuild_from_type},
    Global{"torch", "Tensor", Role::tensor_type},
    Global{"torch.nn.parameter", "Parameter", Role::tensor_type},
    Global{"torch.nn.parameter", "Buffer", Role::tensor_type},
    Global{"torch", "DoubleStorage", Role::storage, Dtype::float64},
    Global{"torch", "FloatStorage", Role::storage, Dtype::float32},
    Global{"torch", "HalfStorage", Role::storage, Dtype::float16},
    Global{"torch", "BFloat16Storage", Role::storage, Dtype::bfloat16},
    Global{"torch", "LongStorage", Role::storage, Dtype::int64},
    Global{"torch", "IntStorage", Role::storage, Dtype::int32},
    Global{"torch", "ShortStorage", Role::storage, Dtype::int16},
    Global{"torch", "CharStorage", Role::storage, Dtype::int8},
    Global{"torch", "ByteStorage", Role::storage, Dtype::uint8},
    Global{"torch", "BoolStorage", Role::storage, Dtype::bool_},
    Global{"torch", "ComplexFloatStorage", Role::storage, Dtype::complex64},
    Global{"torch", "ComplexDoubleStorage", Role::storage, Dtype::complex128},
    Global{"torch.storage", "UntypedStorage", Role::untyped_storage},
    Global{"torch", "UntypedStorage", Role::untyped_storage},
    Global{"torch", "float64", Role::dtype, Dtype::float64},
    Global{"torch", "float32", Role::dtype, Dtype::float32},
    Global{"torch", "float16", Role::dtype, Dtype::float16},
    Global{"torch", "bfloat16", Role::dtype, Dtype::bfloat16},
    Global{"torch", "int64", Role::dtype, Dtype::int64},
    Global{"torch", "int32", Role::dtype, Dtype::int32},
    Global{"torch", "int16", Role::dtype, Dtype::int16},
    Global{"torch", "int8", Role::dtype, Dtype::int8},
    Global{"torch", "uint64", Role::dtype, Dtype::uint64},
    Global{"torch", "uint32", Role::dtype, Dtype::uint32},
    Global{"torch", "uint16", Role::dtype, Dtype::uint16},
    Global{"torch", "uint8", Role::dtype, Dtype::uint8},
    Global{"torch", "bool", Role::dtype, Dtype::bool_},
    Global{"torch", "complex64", Role::dtype, Dtype::complex64},
    Global{"torch", "complex128", Role::dtype, Dtype::complex128},
};

bool within(std::string_view module, std::string_view package) {
  return module == package || (module.starts_with(package) && module[package.size()] == '.');
}

/// Modules whose functions reach the system or run code.
constexpr std::array kDangerous = {"os",       "posix",      "nt",     "sys",       "subprocess", "builtins",
                                   "runpy",    "socket",     "shutil", "importlib", "pty",        "__builtin__",
                                   "commands", "webbrowser", "ctypes", "pickle",    "operator",   "functools",
                                   "code",     "timeit",     "pydoc",  "pip",       "bdb",        "asyncio"};

}  // namespace

const Global* find_global(std::string_view module, std::string_view name) {
  // Old files of a GPU's tensors name the same storages in a module of their own.
  if (module == "torch.cuda" && name.ends_with("Storage")) module = "torch";
  const auto found = std::find_if(kGlobals.begin(), kGlobals.end(),
                                  [&](const Global& row) { return row.module == module && row.name == name; });
  return found == kGlobals.end() ? nullptr : found;
}

std::string why_refused(std::string_view module, std::string_view name) {
  const std::string refers = "the pickle refers to " + in_quotes(std::string(module) + "." + std::string(name));
  const std::string nothing_ran = "; nothing was executed. ";
  if (std::any_of(kDangerous.begin(), kDangerous.end(), [&](const char* package) { return within(module, package); })) {
    return refers + ", which no file of weights needs" + nothing_ran + "It may be an attack: do not load it with torch";
  }
  if (within(module, "numpy") || within(module, "ml_dtypes")) {
    return refers + ", NumPy's, where tensors, containers, numbers and texts are read" + nothing_ran +
           "Save tensors (torch.from_numpy) and numbers (float, int) instead";
  }
  if (module == "torch" && (name.starts_with("float") || name.ends_with("Storage"))) {
    return refers + ", a type that has no dtype here" + nothing_ran + "Convert the tensor: tensor.to(torch.bfloat16)";
  }
  if (module == "torch" || within(module, "torch._utils") || within(module, "torch.storage") ||
      within(module, "torch.serialization") || within(module, "torch._tensor")) {
    return refers + ", which has no counterpart here" + nothing_ran +
           "Save plain tensors of torch's ordinary dtypes: {name: tensor.detach().cpu().contiguous()}";
  }
  return refers + ", so it holds a whole object of Python, not its weights alone" + nothing_ran +
         "Where the object's code is at hand, save torch.save(model.state_dict(), path) or the network as ONNX";
}

}  // namespace iruka::nn
