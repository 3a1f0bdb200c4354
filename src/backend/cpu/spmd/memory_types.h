// How types are stored in memory.
#pragma once

#include <algorithm>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/MathExtras.h"

namespace iruka::cpu_backend::spmd {

/// i1 is stored as a byte, because a vector of i1 would be packed bits.
inline llvm::Type* memory_type(llvm::Type* type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

/// Whether the elements of a vector of `type` lie in memory as those of an array do.
inline bool has_vector_form(llvm::Type* type, const llvm::DataLayout& layout) {
  return llvm::VectorType::isValidElementType(type) &&
         layout.getTypeSizeInBits(type) == layout.getTypeAllocSizeInBits(type);
}

/// The alignment of W elements that lie side by side in memory of our own.
inline llvm::Align lane_memory_align(llvm::Type* element, unsigned lanes, const llvm::DataLayout& layout) {
  constexpr uint64_t kLargest = 64;  // bytes of the widest registers
  const uint64_t size = layout.getTypeAllocSize(element).getFixedValue();
  return llvm::Align(std::min(kLargest, uint64_t{1} << llvm::countr_zero(size * lanes)));
}

}  // namespace iruka::cpu_backend::spmd
