#include "image/patch_kernels.h"

#include "iruka/error.h"

namespace iruka::image {

void match_by_kernels(const PatchMatching&, Device&) { throw DeviceError("nnf: no kernels yet"); }

}  // namespace iruka::image
