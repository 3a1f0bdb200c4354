// What a kernel costs before it runs: compile and link milliseconds of the first kernel in this process and later ones.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "backend/cpu/compiler/compiler.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

iruka::ProgramSource kernel(const std::string& body) {
  iruka::ProgramSource source;
  source.text =
      "struct Arguments { const float* x; const float* y; float* z; long n; };\n"
      "extern \"C\" void iruka_entry(const unsigned char* block, long begin, long end) {\n"
      "  const Arguments& a = *reinterpret_cast<const Arguments*>(block);\n"
      "  const float* __restrict xs = a.x; const float* __restrict ys = a.y; float* __restrict zs = a.z;\n"
      "  for (long i = begin; i < end; ++i) {\n"
      "    const float x = xs[i]; const float y = ys[i]; float& z = zs[i];\n"
      "#line 1 \"operation\"\n" +
      body +
      "\n"
      "  }\n}\n";
  source.entry = "iruka_entry";
  source.file_name = "<kernel>";
  return source;
}

struct Times {
  double compile = 0, link = 0;
};

Times measure(const std::string& body) {
  Times times;
  const auto source = kernel(body);
  auto start = Clock::now();
  const auto program = iruka::cpu_backend::compile(source);
  times.compile = milliseconds(start);
  if (!program.ok) {
    for (const auto& d : program.diagnostics) {
      std::printf("%s:%d:%d: %s\n", d.file.c_str(), d.line, d.column, d.message.c_str());
    }
    std::exit(1);
  }
  start = Clock::now();
  const iruka::cpu_backend::LinkedObject object(program.code);
  times.link = milliseconds(start);
  float x[32], y[32], z[32];
  for (int k = 0; k < 32; ++k) x[k] = static_cast<float>(k), y[k] = 1;
  struct {
    const float *x, *y;
    float* z;
    long n;
  } arguments{x, y, z, 32};
  object.symbols().front().function()(&arguments, 0, 32);
  if (!(z[3] == z[3])) std::exit(1);
  return times;
}

}  // namespace

int main(int count, char** values) {
  const std::pair<const char*, const char*> bodies[] = {
      {"add", "z = x + y;"},
      {"transcendental", "z = expf(x * 0.01f) * sinf(y) + powf(x + 1, 2);"},
      {"branches and a loop",
       "float sum = 0; for (int k = 0; k < 9; ++k) { float d = x - y * k; sum += d > 0 ? d * d : -d; } z = sum;"},
  };
  if (count > 1 && std::strcmp(values[1], "assembly") == 0) {
    std::printf("%s\n", iruka::cpu_backend::assembly(kernel(count > 2 ? values[2] : bodies[1].second)).c_str());
    return 0;
  }
  std::printf("%-22s %12s %10s\n", "kernel", "compile ms", "link ms");
  const Times first = measure(bodies[0].second);
  std::printf("%-22s %12.2f %10.2f   first in the process\n", bodies[0].first, first.compile, first.link);
  for (const auto& [name, body] : bodies) {
    std::vector<double> compile, link;
    for (int k = 0; k < 15; ++k) {
      const Times times = measure(std::string(body) + " // " + std::to_string(k));
      compile.push_back(times.compile);
      link.push_back(times.link);
    }
    std::sort(compile.begin(), compile.end());
    std::sort(link.begin(), link.end());
    std::printf("%-22s %12.2f %10.2f   median of later ones\n", name, compile[7], link[7]);
  }
}
