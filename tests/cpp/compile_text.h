// Compiles and links a text for the tests of the CPU compiler.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/compiler/compiler.h"

namespace iruka::test {

inline std::string errors(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const auto& found : diagnostics) {
    if (found.level != Diagnostic::Level::error) continue;
    all += found.file + ":" + std::to_string(found.line) + ":" + std::to_string(found.column) + ": " + found.message +
           "\n";
  }
  return all;
}

inline ProgramSource program(std::string text, std::vector<std::string> options = {}) {
  return {std::move(text), "iruka_entry", std::move(options), "<test>"};
}

/// A loop over `body`, which has the element k of `a`, `b` (types A, B) and `z` (type Z).
inline std::string loop_text(const std::string& a, const std::string& b, const std::string& z,
                             const std::string& body) {
  return "struct Arguments { const " + a + "* a; const " + b + "* b; " + z +
         "* z; };\n"
         "extern \"C\" void iruka_entry(const unsigned char* block, long begin, long end) {\n"
         "  const auto& arguments = *reinterpret_cast<const Arguments*>(block);\n"
         "  const " +
         a + "* __restrict as = arguments.a; const " + b +
         "* __restrict bs = arguments.b;\n"
         "  " +
         z +
         "* __restrict zs = arguments.z;\n"
         "#pragma clang loop vectorize(assume_safety)\n"
         "  for (long k = begin; k < end; ++k) {\n"
         "    const " +
         a + " a = as[k]; const " + b + " b = bs[k]; " + z +
         "& z = zs[k]; (void)a; (void)b;\n"
         "#line 1 \"operation\"\n" +
         body + "\n  }\n}\n";
}

inline std::unique_ptr<cpu_backend::LinkedObject> build(const ProgramSource& source) {
  const auto compiled = cpu_backend::compile(source);
  EXPECT_TRUE(compiled.ok) << errors(compiled.diagnostics) << source.text;
  if (!compiled.ok) return nullptr;
  return std::make_unique<cpu_backend::LinkedObject>(compiled.code);
}

/// z = body(a, b) for every k, by compiled code.
template <class Z, class A, class B>
std::vector<Z> evaluate(const std::string& types_and_body, const std::vector<A>& a, const std::vector<B>& b,
                        std::vector<std::string> options = {}) {
  std::vector<Z> z(a.size());
  const auto object = build(program(types_and_body, std::move(options)));
  if (!object) return z;
  struct {
    const A* a;
    const B* b;
    Z* z;
  } arguments{a.data(), b.data(), z.data()};
  object->symbols().front().function()(&arguments, 0, static_cast<int64_t>(a.size()));
  return z;
}

}  // namespace iruka::test
