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

/// The outcome of a link.
struct LinkResult {
  FinalizedAlloc allocation;
  void* entry = nullptr;
  std::string error;
};

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(LinkResult& result, const std::string& entry)
      : jitlink::JITLinkContext(nullptr), result_(result), entry_(entry) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_manager(); }
  void notifyFailed(llvm::Error error) override { result_.error = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& names, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : names) {
      void* address = symbol_address(*name);
      if (!address) {
        next->run(llvm::createStringError("unknown symbol '" + (*name).str() + "'"));
        return;
      }
      found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    next->run(std::move(found));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (symbol->hasName() && *symbol->getName() == entry_) result_.entry = symbol->getAddress().toPtr<void*>();
    }
    return result_.entry ? llvm::Error::success()
                         : llvm::createStringError("it does not define the function '" + entry_ + "'");
  }

  void notifyFinalized(FinalizedAlloc allocation) override { result_.allocation = std::move(allocation); }

  /// Only the entry and what it reaches is kept; kernels throw nothing, so unwind tables go, too.
  jitlink::LinkGraphPassFunction getMarkLivePass(const llvm::Triple&) const override {
    return [this](jitlink::LinkGraph& graph) {
      for (jitlink::Symbol* symbol : graph.defined_symbols()) {
        symbol->setLive(symbol->hasName() && *symbol->getName() == entry_);
      }
      return llvm::Error::success();
    };
  }

 private:
  LinkResult& result_;
  const std::string& entry_;
};

}  // namespace

struct LinkedObject::State {
  FinalizedAlloc allocation;
  ~State() {
    if (allocation) llvm::consumeError(memory_manager().deallocate(std::move(allocation)));
  }
};

LinkedObject::LinkedObject(std::string_view code, const std::string& entry) : state_(std::make_unique<State>()) {
  install_error_handlers();
  const auto packed = unpack_object(code);
  if (!packed)
    throw DeviceError("load: the code is damaged or not from this compiler (" + std::to_string(code.size()) +
                      " bytes)");
  const llvm::MemoryBufferRef buffer(llvm::StringRef(packed->object.data(), packed->object.size()), "kernel");
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(buffer, symbol_pool());
  if (!graph) throw DeviceError("load: the code cannot be read: " + llvm::toString(graph.takeError()));
  LinkResult result;
  jitlink::link_ELF_x86_64(std::move(*graph), std::make_unique<LinkContext>(result, entry));
  state_->allocation = std::move(result.allocation);
  if (!result.error.empty()) throw DeviceError("load: the code cannot be linked: " + result.error);
  entry_ = reinterpret_cast<EntryFunction>(result.entry);
  lanes_ = packed->lanes;
  is_uncertain_ = packed->is_uncertain;
}

LinkedObject::~LinkedObject() = default;

}  // namespace iruka::cpu_backend
