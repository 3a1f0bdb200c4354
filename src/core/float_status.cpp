#include "core/float_status.h"

#include <utility>

namespace iruka {
namespace {

constinit thread_local unsigned float_flags = 0;

}  // namespace

unsigned take_float_flags() { return std::exchange(float_flags, 0); }

void add_float_flags(unsigned flags) { float_flags |= flags; }

}  // namespace iruka
