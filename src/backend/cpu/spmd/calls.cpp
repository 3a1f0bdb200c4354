#include "backend/cpu/spmd/calls.h"

#include "backend/cpu/compiler/guard_pass.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

/// A hint about one lane, which may be dropped.
bool is_hint(ID id) {
  switch (id) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::invariant_end:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::sideeffect:
    case llvm::Intrinsic::pseudoprobe:
    case llvm::Intrinsic::fake_use:
    case llvm::Intrinsic::var_annotation:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::dbg_declare:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::dbg_assign:
    case llvm::Intrinsic::dbg_label: return true;
    default: return false;
  }
}

bool is_identity(ID id) {
  switch (id) {
    case llvm::Intrinsic::expect:
    case llvm::Intrinsic::expect_with_probability:
    case llvm::Intrinsic::annotation:
    case llvm::Intrinsic::ptr_annotation:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
    case llvm::Intrinsic::ssa_copy: return true;
    default: return false;
  }
}

bool is_overflow_test(ID id) {
  switch (id) {
    case llvm::Intrinsic::sadd_with_overflow:
    case llvm::Intrinsic::uadd_with_overflow:
    case llvm::Intrinsic::ssub_with_overflow:
    case llvm::Intrinsic::usub_with_overflow:
    case llvm::Intrinsic::smul_with_overflow:
    case llvm::Intrinsic::umul_with_overflow: return true;
    default: return false;
  }
}

/// Whether the intrinsic is overloaded on the type of this operand (-1: of the result), so that the type is part of its
/// name.
bool names_type(ID id, int operand, const llvm::TargetTransformInfo& costs) {
  if (is_overflow_test(id)) return operand == 0;
  return llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, operand, &costs);
}

/// The name under which the library lists the vector form of `call`, or an empty string. All operands must be float or
/// double, like the result. Intrinsics of 16-bit floats are computed in float, as code generation does for scalars.
std::string library_name(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  llvm::Type* type = call.getType();
  const bool is_short = type->isHalfTy() || type->isBFloatTy();
  if (!callee || !callee->isDeclaration() || (!type->isFloatTy() && !type->isDoubleTy() && !is_short)) return {};
  if (llvm::any_of(call.args(), [&](const Value* value) { return value->getType() != type; })) return {};
  if (!is_short) return callee->getName().str();
  return callee->isIntrinsic() ? (llvm::Intrinsic::getBaseName(callee->getIntrinsicID()) + ".f32").str()
                               : std::string();
}

/// The library's widest function of at most `lanes` lanes, or the narrowest of more.
const llvm::VecDesc* widest_form(const llvm::TargetLibraryInfo& library, llvm::StringRef name, unsigned lanes) {
  constexpr unsigned kMostLanes = 64;
  const auto form = [&](unsigned count) {
    return library.getVectorMappingInfo(name, llvm::ElementCount::getFixed(count), /*Masked=*/false);
  };
  for (unsigned count = lanes; count > 1; count /= 2) {
    if (const auto* found = form(count)) return found;
  }
  for (unsigned count = 2 * lanes; count <= kMostLanes; count *= 2) {
    if (const auto* found = form(count)) return found;
  }
  return nullptr;
}

llvm::FunctionCallee declare_form(llvm::Module& module, const llvm::VecDesc& form, llvm::Type* type, unsigned arity) {
  auto* vector = llvm::VectorType::get(type, form.getVectorizationFactor());
  const llvm::SmallVector<llvm::Type*, 2> arguments(arity, vector);
  auto callee = module.getOrInsertFunction(form.getVectorFnName(), llvm::FunctionType::get(vector, arguments, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::Speculatable);
    function->addFnAttr(llvm::Attribute::WillReturn);
  }
  return callee;
}

/// `count` lanes from `first` on; after the last lane it starts again with lane 0.
Value* take_lanes(llvm::IRBuilder<>& build, Value* value, unsigned first, unsigned count) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  if (first == 0 && count == lanes) return value;
  llvm::SmallVector<int, 64> order;
  for (unsigned k = 0; k < count; ++k) order.push_back(static_cast<int>((first + k) % lanes));
  return build.CreateShuffleVector(value, order);
}

/// Calls a vector function, which may have another number of lanes, as often as needed.
Value* call_form(llvm::IRBuilder<>& build, llvm::FunctionCallee callee, llvm::ArrayRef<Value*> arguments,
                 unsigned lanes) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(callee.getFunctionType()->getReturnType())->getNumElements();
  llvm::SmallVector<Value*, 16> pieces;
  for (unsigned first = 0; first < lanes; first += count) {
    llvm::SmallVector<Value*, 2> parts;
    for (Value* argument : arguments) parts.push_back(take_lanes(build, argument, first, count));
    pieces.push_back(build.CreateCall(callee, parts));
  }
  return take_lanes(build, llvm::concatenateVectors(build, pieces), 0, lanes);
}

/// Whether the library has the math function; for sincos, both of its functions.
bool is_math(const llvm::CallInst& call, const llvm::TargetLibraryInfo& library) {
  if (call.getIntrinsicID() == llvm::Intrinsic::sincos) {
    const std::string suffix = call.getArgOperand(0)->getType()->isDoubleTy() ? ".f64" : ".f32";
    const llvm::Type* type = call.getArgOperand(0)->getType();
    return (type->isFloatTy() || type->isDoubleTy()) && library.isFunctionVectorizable("llvm.sin" + suffix) &&
           library.isFunctionVectorizable("llvm.cos" + suffix);
  }
  const std::string name = library_name(call);
  return !name.empty() && library.isFunctionVectorizable(name);
}

/// Whether the intrinsic has a vector form with the scalar form's results. Of the intrinsics that return structures,
/// only overflow tests have one.
bool has_vector_intrinsic(const llvm::CallInst& call, const LaneAnalysis& analysis,
                          const llvm::TargetTransformInfo& costs) {
  const ID id = call.getIntrinsicID();
  if (is_overflow_test(id)) return true;
  if (id == llvm::Intrinsic::canonicalize) return false;  // LLVM 22 cannot generate code for some of its vectors
  if (id == llvm::Intrinsic::not_intrinsic || call.getType()->isStructTy() || !llvm::isTriviallyVectorizable(id))
    return false;
  for (unsigned k = 0; k < call.arg_size(); ++k) {
    const bool is_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, k, &costs);
    if (is_scalar && !analysis.is_uniform(call.getArgOperand(k))) return false;
  }
  return true;
}

}  // namespace

CallForm call_form(const llvm::CallInst& call, const LaneAnalysis& analysis, const llvm::TargetLibraryInfo& library,
                   const llvm::TargetTransformInfo& costs) {
  const ID id = call.getIntrinsicID();
  if (division_opcode(call)) return CallForm::division;
  if (block_call(call)) return CallForm::together;
  if (is_hint(id)) return CallForm::dropped;
  if (id == llvm::Intrinsic::prefetch) return CallForm::prefetch;
  if (is_identity(id)) return CallForm::identity;
  if (id == llvm::Intrinsic::is_constant) return CallForm::unknown;
  if (is_math(call, library)) return CallForm::math;
  return has_vector_intrinsic(call, analysis, costs) ? CallForm::intrinsic : CallForm::lane_by_lane;
}

CallWriter::CallWriter(LaneBuilder& build, LaneValues& values, LaneByLane& lane_by_lane, DivisionWriter& divisions,
                       const Body& body)
    : build_(build),
      values_(values),
      lane_by_lane_(lane_by_lane),
      divisions_(divisions),
      block_calls_(build, values, lane_by_lane),
      body_(body) {}

void CallWriter::write(llvm::CallInst& call) {
  switch (call_form(call, body_.analysis, body_.target.library, body_.target.costs)) {
    case CallForm::division:
      return divisions_.write(call, *division_opcode(call), call.getArgOperand(0), call.getArgOperand(1));
    case CallForm::dropped: return;
    case CallForm::prefetch: return write_prefetch(call);
    case CallForm::identity: return values_.set_vector(&call, values_.vector(call.getArgOperand(0)));
    case CallForm::unknown:
      return values_.set_vector(&call, llvm::Constant::getNullValue(build_.widened(call.getType())));
    case CallForm::together: return block_calls_.write(call, *block_call(call));
    case CallForm::math: return write_math(call);
    case CallForm::intrinsic: return write_intrinsic(call);
    case CallForm::lane_by_lane: return lane_by_lane_.write(call);
  }
}

void CallWriter::write_math(llvm::CallInst& call) {
  if (call.getIntrinsicID() != llvm::Intrinsic::sincos) {
    llvm::SmallVector<Value*, 2> arguments;
    for (Value* argument : call.args()) arguments.push_back(values_.vector(argument));
    return values_.set_vector(&call, math(library_name(call), arguments));
  }
  Value* angle = values_.vector(call.getArgOperand(0));
  const std::string suffix = angle->getType()->getScalarType()->isDoubleTy() ? ".f64" : ".f32";
  Value* result = llvm::PoisonValue::get(build_.widened(call.getType()));
  result = build_.CreateInsertValue(result, math("llvm.sin" + suffix, angle), 0);
  result = build_.CreateInsertValue(result, math("llvm.cos" + suffix, angle), 1);
  values_.set_vector(&call, result);
}

/// Applies the library's function `name` to all lanes.
Value* CallWriter::math(llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
  llvm::Type* given = arguments.front()->getType();
  const bool is_short = given->getScalarSizeInBits() < 32;
  llvm::Type* type = is_short ? build_.getFloatTy() : given->getScalarType();
  const llvm::VecDesc* form = widest_form(body_.target.library, name, build_.lanes());
  const auto callee =
      declare_form(*build_.function().getParent(), *form, type, static_cast<unsigned>(arguments.size()));
  llvm::SmallVector<Value*, 2> extended;
  for (Value* argument : arguments)
    extended.push_back(is_short ? build_.CreateFPExt(argument, build_.widened(type)) : argument);
  Value* result = call_form(build_, callee, extended, build_.lanes());
  return is_short ? build_.CreateFPTrunc(result, given) : result;
}

void CallWriter::write_intrinsic(llvm::CallInst& call) {
  const ID id = call.getIntrinsicID();
  llvm::SmallVector<llvm::Type*, 3> types;
  llvm::SmallVector<Value*, 4> arguments;
  if (names_type(id, -1, body_.target.costs)) types.push_back(build_.widened(call.getType()));
  for (unsigned k = 0; k < call.arg_size(); ++k) {
    Value* argument = call.getArgOperand(k);
    const bool is_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, k, &body_.target.costs);
    arguments.push_back(is_scalar ? values_.scalar(argument) : values_.vector(argument));
    if (names_type(id, static_cast<int>(k), body_.target.costs)) types.push_back(arguments.back()->getType());
  }
  llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(build_.function().getParent(), id, types);
  llvm::CallInst* result = build_.CreateCall(callee, arguments);
  if (llvm::isa<llvm::FPMathOperator>(result)) result->copyFastMathFlags(&call);
  values_.set_vector(&call, result);
}

/// A prefetch faults at no address, so that inactive lanes may do it.
void CallWriter::write_prefetch(llvm::CallInst& call) {
  Value* address = call.getArgOperand(0);
  const bool is_uniform = body_.analysis.is_uniform(address);
  Value* addresses = is_uniform ? values_.scalar(address) : values_.vector(address);
  for (unsigned lane = 0; lane < (is_uniform ? 1 : build_.lanes()); ++lane) {
    llvm::Instruction* copy = call.clone();
    copy->setOperand(0, is_uniform ? addresses : build_.CreateExtractElement(addresses, lane));
    build_.Insert(copy);
  }
}

}  // namespace iruka::cpu_backend::spmd
