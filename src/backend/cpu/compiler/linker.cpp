// Links objects into this process by JITLink without an ORC session: one graph, one allocation, one look-up.
#include <cstring>
#include <optional>

#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/compiler/container.h"
#include "backend/cpu/compiler/host.h"
#include "backend/cpu/compiler/symbols.h"
#include "llvm/ExecutionEngine/JITLink/ELF_x86_64.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/SymbolStringPool.h"
#include "llvm/Support/Process.h"

namespace iruka::cpu_backend {
namespace {

namespace jitlink = llvm::jitlink;
using FinalizedAlloc = jitlink::JITLinkMemoryManager::FinalizedAlloc;

jitlink::InProcessMemoryManager& memory_manager() {
  static auto& manager = *new jitlink::InProcessMemoryManager(llvm::sys::Process::getPageSizeEstimate());
  return manager;
}

const std::shared_ptr<llvm::orc::SymbolStringPool>& symbol_pool() {
  static const auto& pool = *new std::shared_ptr<llvm::orc::SymbolStringPool>(new llvm::orc::SymbolStringPool);
  return pool;
}

/// Only what the source exports is visible outside of an object.
bool is_exported(const jitlink::Symbol& symbol) {
  return symbol.hasName() && symbol.getScope() == jitlink::Scope::Default;
}

/// The outcome of a link.
struct LinkResult {
  FinalizedAlloc allocation;
  std::vector<ExportedSymbol> symbols;
  std::string error;
};

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(LinkResult& result, const LinkedObject* variables)
      : jitlink::JITLinkContext(nullptr), result_(result), variables_(variables) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_manager(); }
  void notifyFailed(llvm::Error error) override { result_.error = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& names, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : names) {
      void* address = variable_address(*name);
      if (!address) address = symbol_address(*name);
      if (!address) {
        next->run(llvm::createStringError("unknown symbol '" + (*name).str() + "'"));
        return;
      }
      found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    next->run(std::move(found));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols())
      if (is_exported(*symbol))
        result_.symbols.push_back({(*symbol->getName()).str(), symbol->getAddress().toPtr<void*>(),
                                   static_cast<size_t>(symbol->getSize()), symbol->isCallable()});
    return llvm::Error::success();
  }

  void notifyFinalized(FinalizedAlloc allocation) override { result_.allocation = std::move(allocation); }

  /// What is exported and what it reaches is kept; kernels throw nothing, so unwind tables go, too.
  jitlink::LinkGraphPassFunction getMarkLivePass(const llvm::Triple&) const override {
    return [](jitlink::LinkGraph& graph) {
      for (jitlink::Symbol* symbol : graph.defined_symbols()) symbol->setLive(is_exported(*symbol));
      return llvm::Error::success();
    };
  }

  /// Variables that another object defines are taken from there.
  llvm::Error modifyPassConfig(jitlink::LinkGraph&, jitlink::PassConfiguration& passes) override {
    if (!variables_) return llvm::Error::success();
    passes.PrePrunePasses.insert(passes.PrePrunePasses.begin(), [this](jitlink::LinkGraph& graph) {
      llvm::SmallVector<jitlink::Symbol*, 8> shared;
      for (jitlink::Symbol* symbol : graph.defined_symbols())
        if (is_exported(*symbol) && !symbol->isCallable() && variable_address(*symbol->getName()))
          shared.push_back(symbol);
      for (jitlink::Symbol* symbol : shared) graph.makeExternal(*symbol);
      return llvm::Error::success();
    });
    return llvm::Error::success();
  }

 private:
  void* variable_address(llvm::StringRef name) const {
    if (!variables_) return nullptr;
    for (const ExportedSymbol& symbol : variables_->symbols())
      if (!symbol.is_function && symbol.name == name) return symbol.address;
    return nullptr;
  }

  LinkResult& result_;
  const LinkedObject* const variables_;
};

}  // namespace

struct LinkedObject::State {
  FinalizedAlloc allocation;
  std::vector<ExportedSymbol> symbols;
  ~State() {
    if (allocation) llvm::consumeError(memory_manager().deallocate(std::move(allocation)));
  }
};

LinkedObject::LinkedObject(std::string_view code, const LinkedObject* variables) : state_(std::make_unique<State>()) {
  install_error_handlers();
  const auto packed = unpack_object(code);
  if (!packed)
    throw DeviceError("load: the code is damaged or not from this compiler (" + std::to_string(code.size()) +
                      " bytes)");
  const llvm::MemoryBufferRef buffer(llvm::StringRef(packed->object.data(), packed->object.size()), "kernel");
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(buffer, symbol_pool());
  if (!graph) throw DeviceError("load: the code cannot be read: " + llvm::toString(graph.takeError()));
  LinkResult result;
  jitlink::link_ELF_x86_64(std::move(*graph), std::make_unique<LinkContext>(result, variables));
  state_->allocation = std::move(result.allocation);
  if (!result.error.empty()) throw DeviceError("load: the code cannot be linked: " + result.error);
  state_->symbols = std::move(result.symbols);
  lanes_ = packed->lanes;
  rival_lanes_ = packed->rival_lanes;
  attributes_.shared_size_bytes = static_cast<int>(packed->block.shared_bytes);
  attributes_.const_size_bytes = static_cast<int>(packed->block.constant_bytes);
  attributes_.local_size_bytes = static_cast<int>(packed->block.local_bytes);
  attributes_.max_threads_per_block = static_cast<int>(packed->block.most_threads);
}

LinkedObject::~LinkedObject() = default;

const std::vector<ExportedSymbol>& LinkedObject::symbols() const { return state_->symbols; }

}  // namespace iruka::cpu_backend
