#include "backend/cpu/spmd/access.h"

#include "backend/cpu/spmd/memory_types.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

using llvm::Value;

Access access_of(const llvm::Instruction& instruction, const Body& body) {
  const llvm::DataLayout& data = instruction.getDataLayout();
  Access access;
  access.pointer = const_cast<Value*>(llvm::getLoadStorePointerOperand(&instruction));
  access.type = memory_type(llvm::getLoadStoreType(&instruction));
  access.align = llvm::getLoadStoreAlignment(&instruction);
  access.size = static_cast<int64_t>(data.getTypeStoreSize(access.type).getFixedValue());
  access.shape = body.analysis.shape(access.pointer);
  access.aliases = instruction.getAAMetadata();
  access.has_vector_form = has_vector_form(access.type, data);
  const PrivateLayout* layout = body.memory.layout_of(access.pointer);
  // All lanes have the same index, so that the inactive lanes' memory exists, too.
  access.is_own_everywhere = layout && access.shape.is_linear() && access.shape.stride == layout->lane_stride();
  if (layout && layout->granule) {
    access.align = llvm::commonAlignment(access.align, static_cast<uint64_t>(layout->granule));
    if (access.is_own_everywhere)
      access.align = lane_memory_align(access.type, static_cast<unsigned>(body.analysis.lanes()), data);
  }
  return access;
}

Value* load_element(llvm::IRBuilder<>& build, const Access& access, Value* pointer) {
  llvm::LoadInst* load = build.CreateAlignedLoad(access.type, pointer, access.align);
  load->setAAMetadata(access.aliases);
  return load;
}

void store_element(llvm::IRBuilder<>& build, const Access& access, Value* pointer, Value* value) {
  build.CreateAlignedStore(value, pointer, access.align)->setAAMetadata(access.aliases);
}

}  // namespace iruka::cpu_backend::spmd
