#include "backend/cpu/compiler/name_expressions.h"

#include "llvm/IR/Module.h"

namespace iruka::cpu_backend {
namespace {

std::string variable_name(size_t k) { return "iruka_name_" + std::to_string(k); }

Diagnostic error_of(const std::string& expression, const std::string& message) {
  return {Diagnostic::Level::error, "", 0, 0, "name expression '" + expression + "': " + message};
}

}  // namespace

std::string name_declarations(const ProgramSource& source) {
  std::string text;
  for (size_t k = 0; k < source.name_expressions.size(); ++k) {
    const std::string name = variable_name(k);
    // The cast takes the address of a function, and of the one instance that a template's name with its arguments
    // selects.
    text += "\n#line 1 \"" + name + "\"\nextern \"C\" { const void* " + name + " = (const void*)(" +
            source.name_expressions[k] + "\n); }\n";
  }
  return text;
}

bool export_named(llvm::Module& module, const ProgramSource& source, NamePairs& names,
                  std::vector<Diagnostic>& diagnostics) {
  for (size_t k = 0; k < source.name_expressions.size(); ++k) {
    const std::string& expression = source.name_expressions[k];
    llvm::GlobalVariable* const variable = module.getNamedGlobal(variable_name(k));
    llvm::GlobalObject* named = nullptr;
    if (variable && variable->hasInitializer())
      named = llvm::dyn_cast<llvm::GlobalObject>(variable->getInitializer()->stripPointerCasts());
    if (!named || named->isDeclaration()) {
      diagnostics.push_back(error_of(expression, "it names no function and no variable's address"));
      return false;
    }
    names.emplace_back(expression, named->getName().str());
    named->setLinkage(llvm::GlobalValue::ExternalLinkage);  // templates and static functions, too
    named->setComdat(nullptr);
    variable->eraseFromParent();
  }
  return true;
}

void quote_expressions(const ProgramSource& source, std::vector<Diagnostic>& diagnostics) {
  for (Diagnostic& said : diagnostics)
    for (size_t k = 0; k < source.name_expressions.size(); ++k)
      if (said.file == variable_name(k)) {
        const Diagnostic::Level level = said.level;
        said = error_of(source.name_expressions[k], said.message);
        said.level = level;
      }
}

}  // namespace iruka::cpu_backend
