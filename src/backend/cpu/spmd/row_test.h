// Tests at run time whether lanes read elements that follow one another, as they do except at clamped borders.
#pragma once

#include "backend/cpu/spmd/access.h"
#include "backend/cpu/spmd/lane_values.h"

namespace iruka::cpu_backend::spmd {

struct RowTest {
  llvm::Value* is_row = nullptr;  ///< i1; null: nothing suggests a row
  llvm::Value* index = nullptr;   ///< the only varying index of the address
  llvm::Value* first = nullptr;   ///< the index of the first lane
  int64_t step = 0;               ///< elements from lane to lane
};

class RowTester {
 public:
  RowTester(LaneBuilder& build, LaneValues& values, const Body& body);

  RowTest test(const Access& access);
  /// The address of the first lane's element of a row.
  llvm::Value* first_address(llvm::Value* pointer, const RowTest& row);

 private:
  llvm::Value* clamped_in_lane(llvm::Value* value, unsigned lane, llvm::SmallVectorImpl<llvm::Value*>* conditions);
  llvm::Value* only_varying_index(const Access& access) const;
  llvm::Value* advances_by(llvm::Value* index, int64_t step, llvm::Value*& first);
  llvm::Value* advances_everywhere(llvm::Value* index, llvm::Value*& first);

  LaneBuilder& build_;
  LaneValues& values_;
  const Body& body_;
};

}  // namespace iruka::cpu_backend::spmd
