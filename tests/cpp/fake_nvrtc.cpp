// An NVRTC in software for Python's tests: it takes every text, and the driver in software runs the result as nothing.
#include <cstring>

#define IRUKA_NVRTC extern "C" __attribute__((visibility("default")))

namespace {

constexpr char kCode[] = "machine code";
constexpr int kArchitecture = 90;

}  // namespace

IRUKA_NVRTC int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
IRUKA_NVRTC int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                                   const char* const*) {
  *program = nullptr;
  return 0;
}
IRUKA_NVRTC int nvrtcDestroyProgram(void**) { return 0; }
IRUKA_NVRTC int nvrtcAddNameExpression(void*, const char*) { return 0; }
/// Each expression is its own name.
IRUKA_NVRTC int nvrtcGetLoweredName(void*, const char* expression, const char** name) {
  *name = expression;
  return 0;
}
IRUKA_NVRTC int nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
IRUKA_NVRTC int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = 0;
  return 0;
}
IRUKA_NVRTC int nvrtcGetProgramLog(void*, char*) { return 0; }
IRUKA_NVRTC int nvrtcGetCUBINSize(void*, size_t* size) {
  *size = sizeof(kCode);
  return 0;
}
IRUKA_NVRTC int nvrtcGetCUBIN(void*, char* code) {
  std::memcpy(code, kCode, sizeof(kCode));
  return 0;
}
IRUKA_NVRTC int nvrtcGetPTXSize(void*, size_t* size) {
  *size = 0;
  return 0;
}
IRUKA_NVRTC int nvrtcGetPTX(void*, char*) { return 0; }
IRUKA_NVRTC const char* nvrtcGetErrorString(int) { return "no error"; }
IRUKA_NVRTC int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
IRUKA_NVRTC int nvrtcGetSupportedArchs(int* architectures) {
  *architectures = kArchitecture;
  return 0;
}
