#include "backend/cpu/spmd/computed_places.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backend/cpu/spmd/address.h"
#include "backend/cpu/spmd/lane_loop.h"
#include "backend/cpu/spmd/shapes.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Support/KnownBits.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;
using llvm::Value;

/// As many elements as vector registers hold of an array together with the numbers at work.
constexpr int64_t kMostElements = 16;
/// In a loop that stays one, where each access takes its selects in every round. Bytes take a conversion of the mask
/// for each select as well.
constexpr int64_t kMostElementsInLoops = 8, kLeastBytesInLoops = 4;
/// The most selects for all accesses to one array.
constexpr size_t kMostSelects = 500;

struct Access {
  Instruction* instruction = nullptr;
  llvm::WeakTrackingVH index;  ///< null: a constant place. It may be read from an array that changes as well
  int64_t offset = 0;          ///< elements to add to the index
  bool is_varying = false;
};

/// The numbers that an integer may be, among those from 0 to `count` once `offset` is added; through selects and phis
/// of constants, else by its range.
class PossiblePlaces {
 public:
  PossiblePlaces(int64_t count, const llvm::DataLayout& layout) : count_(count), layout_(layout) {}

  llvm::SmallVector<int64_t, 16> of(const Value* index, int64_t offset) {
    visit(index, offset);
    llvm::SmallVector<int64_t, 16> places;
    for (int64_t place = 0; place < count_; ++place)
      if (found_[static_cast<size_t>(place)]) places.push_back(place);
    return places;
  }

 private:
  void visit(const Value* value, int64_t offset) {
    if (!seen_.insert({value, offset}).second) return;
    if (seen_.size() > kMostVisits) return add_all();
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      add(constant->getSExtValue() + offset);
    } else if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(value)) {
      visit(select->getTrueValue(), offset);
      visit(select->getFalseValue(), offset);
    } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
      for (const Value* incoming : phi->incoming_values()) visit(incoming, offset);
    } else if (const auto* sum = llvm::dyn_cast<llvm::AddOperator>(value);
               sum && sum->hasNoSignedWrap() && llvm::isa<llvm::ConstantInt>(sum->getOperand(1))) {
      visit(sum->getOperand(0), offset + llvm::cast<llvm::ConstantInt>(sum->getOperand(1))->getSExtValue());
    } else if (!llvm::isa<llvm::UndefValue>(value)) {
      add_range(value, offset);
    }
  }

  void add_range(const Value* value, int64_t offset) {
    const unsigned bits = value->getType()->getIntegerBitWidth();
    const llvm::ConstantRange range = llvm::computeConstantRange(value, /*ForSigned=*/true);
    const llvm::KnownBits known = llvm::computeKnownBits(value, layout_);
    for (int64_t place = 0; place < count_; ++place) {
      const llvm::APInt number(bits, static_cast<uint64_t>(place - offset), /*isSigned=*/true, /*implicitTrunc=*/true);
      if (range.contains(number) && !known.Zero.intersects(number) && known.One.isSubsetOf(number)) add(place);
    }
  }

  void add_all() {
    for (int64_t place = 0; place < count_; ++place) add(place);
  }
  void add(int64_t place) {
    if (place >= 0 && place < count_) found_[static_cast<size_t>(place)] = true;
  }

  static constexpr size_t kMostVisits = 200;
  int64_t count_;
  const llvm::DataLayout& layout_;
  bool found_[kMostElements] = {};
  std::set<std::pair<const Value*, int64_t>> seen_;
};

/// One local array of a lane loop.
class SmallArray {
 public:
  SmallArray(llvm::AllocaInst& local, const PrivateLayout& place, const LaneLoop& loop, const LaneAnalysis& analysis)
      : local_(local),
        loop_(loop),
        analysis_(analysis),
        layout_(local.getDataLayout()),
        granule_(place.granule),
        count_(place.granule ? place.size / place.granule : 0) {}

  /// Whether lanes choose their own elements, and selects are few enough.
  bool should_change() {
    if (count_ < 2 || count_ > kMostElements || !find_accesses(local_)) return false;
    size_t selects = 0, varying = 0, uniform = 0;
    for (const Access& access : accesses_) {
      if (!access.index) continue;
      selects += PossiblePlaces(count_, layout_).of(access.index, access.offset).size();
      ++(access.is_varying ? varying : uniform);
    }
    if (is_in_loop_ && (count_ > kMostElementsInLoops || granule_ < kLeastBytesInLoops)) return false;
    // One vector is read or written at an index that all lanes share.
    return varying > 0 && varying >= uniform && selects <= kMostSelects;
  }

  void change() {
    for (const Access& access : accesses_) {
      if (!access.index) continue;
      llvm::IRBuilder<> build(access.instruction);
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access.instruction)) {
        loaded_.clear();
        load->replaceAllUsesWith(read(build, access.index, access.offset));
      } else {
        write(build, access);
      }
      access.instruction->eraseFromParent();
    }
  }

 private:
  bool find_accesses(Value& pointer) {
    for (llvm::User* user : pointer.users()) {
      auto* instruction = llvm::dyn_cast<Instruction>(user);
      if (!instruction) return false;
      if (instruction->isLifetimeStartOrEnd()) continue;
      if (llvm::isa<llvm::GetElementPtrInst>(instruction) ? !find_accesses(*instruction) : !add(*instruction))
        return false;
    }
    return true;
  }

  bool add(Instruction& instruction) {
    if (!llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction) || instruction.isVolatile() || instruction.isAtomic())
      return false;
    llvm::Type* const type = llvm::getLoadStoreType(&instruction);
    if (!type->isSingleValueType() || (type_ && type != type_)) return false;
    type_ = type;
    const Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
    const AddressSum address = take_apart(pointer, layout_, [](const Value*) { return false; });
    if (address.offset % granule_ != 0 || address.terms.size() > 1) return false;
    if (std::abs(address.offset) > kMostElements * granule_) return false;
    Access access{&instruction, {}, address.offset / granule_, false};
    if (!address.terms.empty()) {
      if (address.terms[0].second != granule_) return false;
      auto* index = const_cast<Value*>(address.terms[0].first);
      // Numbers of places fit the narrow type, and an index beyond is no place either way.
      while (llvm::isa<llvm::SExtInst, llvm::ZExtInst>(index) && is_wide_enough(*llvm::cast<Instruction>(index)))
        index = llvm::cast<Instruction>(index)->getOperand(0);
      access.index = index;
      access.is_varying = !analysis_.is_uniform(access.index);
      is_in_loop_ |= loop_.loops->getLoopFor(instruction.getParent()) != loop_.loop;
    }
    accesses_.push_back(access);
    return true;
  }

  static bool is_wide_enough(const Instruction& extension) {
    return extension.getOperand(0)->getType()->getIntegerBitWidth() >= 16;
  }

  Value* element(llvm::IRBuilder<>& build, int64_t place) {
    return build.CreateConstGEP1_64(build.getInt8Ty(), &local_, static_cast<uint64_t>(place * granule_));
  }

  /// Loads the element at `index + offset`. An index that a select chooses becomes a select of elements, so that what
  /// was read at one of both before is not read again.
  Value* read(llvm::IRBuilder<>& build, Value* index, int64_t offset) {
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index)) {
      const int64_t place = constant->getSExtValue() + offset;
      if (place < 0 || place >= count_) return llvm::PoisonValue::get(type_);
      return build.CreateLoad(type_, element(build, place));
    }
    if (const auto found = loaded_.find(index); found != loaded_.end()) return found->second;
    Value* result = nullptr;
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(index); select && !select->getType()->isVectorTy()) {
      Value* const chosen = read(build, select->getTrueValue(), offset);
      Value* const other = read(build, select->getFalseValue(), offset);
      result = build.CreateSelect(select->getCondition(), chosen, other);
    } else {
      for (const int64_t place : PossiblePlaces(count_, layout_).of(index, offset)) {
        Value* const value = build.CreateLoad(type_, element(build, place));
        result = result ? build.CreateSelect(is_at(build, index, place - offset), value, result) : value;
      }
      if (!result) result = llvm::PoisonValue::get(type_);
    }
    loaded_[index] = result;
    return result;
  }

  void write(llvm::IRBuilder<>& build, const Access& access) {
    Value* const value = llvm::cast<llvm::StoreInst>(access.instruction)->getValueOperand();
    for (const int64_t place : PossiblePlaces(count_, layout_).of(access.index, access.offset)) {
      Value* const before = build.CreateLoad(type_, element(build, place));
      Value* const after = build.CreateSelect(is_at(build, access.index, place - access.offset), value, before);
      build.CreateStore(after, element(build, place));
    }
  }

  static Value* is_at(llvm::IRBuilder<>& build, Value* index, int64_t number) {
    return build.CreateICmpEQ(index, llvm::ConstantInt::getSigned(index->getType(), number, /*ImplicitTrunc=*/true));
  }

  llvm::AllocaInst& local_;
  const LaneLoop& loop_;
  const LaneAnalysis& analysis_;
  const llvm::DataLayout& layout_;
  int64_t granule_, count_;
  llvm::Type* type_ = nullptr;
  bool is_in_loop_ = false;  ///< whether a round of a loop chooses an element
  std::vector<Access> accesses_;
  std::map<const Value*, Value*> loaded_;  ///< for one access, by index
};

/// Whether some small array is indexed by a number that is not a constant, which most functions can be told from.
bool has_computed_places(llvm::Function& function) {
  for (Instruction& instruction : function.getEntryBlock()) {
    const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (local && llvm::any_of(local->users(), [](const llvm::User* user) {
          const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
          return address && !address->hasAllConstantIndices();
        }))
      return true;
  }
  return false;
}

}  // namespace

bool select_computed_places(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (!has_computed_places(function)) return false;
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool is_changed = false;
  for (llvm::CallInst* marker : find_markers(function)) {
    LaneLoop lane;
    if (find_lane_loop(*marker, loops, dominators, lane)) continue;
    const PrivateMemory memory(lane);
    const LaneAnalysis analysis(lane, memory, {}, /*lanes=*/8, /*small_arrays=*/true);
    std::vector<SmallArray> arrays;
    for (const auto& [local, place] : memory.locals()) {
      SmallArray array(const_cast<llvm::AllocaInst&>(*local), place, lane, analysis);
      if (array.should_change()) arrays.push_back(std::move(array));
    }
    for (SmallArray& array : arrays) array.change();
    is_changed |= !arrays.empty();
  }
  return is_changed;
}

}  // namespace iruka::cpu_backend::spmd
