// Programs of torch.export.save() (.pt2) as graphs: archives of JSON and raw bytes, of which nothing is executed.
#pragma once

#include "nn/files/input.h"
#include "nn/files/zip.h"
#include "nn/graph.h"

namespace iruka::nn {

/// Whether an archive is one that torch.export made, in any of its formats.
bool is_torch_program(const ZipArchive& archive);

/// The program's graph, in which ATen's operators have become ONNX's. Inputs are what a caller gives; parameters,
/// buffers and constants are initializers. Raises ValueError for a damaged archive, for one of an older or unknown
/// format, for operators that are not known, all of which it names, and for a program that changes its own state.
Graph read_torch_program(const Input& input);

}  // namespace iruka::nn
