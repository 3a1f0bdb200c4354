// What the compiler reports about a kernel's code.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "iruka/export.h"

namespace iruka {

/// A remark about the widened code, and its place in the user's text.
struct Remark {
  enum class Kind : uint8_t {
    not_widened,       ///< why the body was not widened
    note,              ///< anything else
    gather,            ///< a load from unrelated addresses
    scatter,           ///< a store to unrelated addresses
    divergent_branch,  ///< lanes take different sides
    divergent_loop,    ///< lanes leave after different numbers of iterations
    per_lane,          ///< runs for one lane after the other
    interleaved,       ///< channels loaded or stored as vectors and shuffled
    spill,             ///< a local array that stays in memory
  };
  Kind kind = Kind::note;
  std::string file;  ///< "operation", "preamble", "loop_prep", "after_loop"; else not the user's text
  int line = 0;      ///< 1-based; 0: unknown
  int column = 0;    ///< 1-based; 0: unknown
  std::string message;
};

/// "gather", "divergent_branch"
IRUKA_API const char* name(Remark::Kind kind);

/// How one kernel runs for arguments of given dtypes and layouts.
struct KernelReport {
  std::string kernel;
  std::string device;
  int lanes = 1;                ///< elements that run side by side
  std::string reason;           ///< why the body was not widened; non-empty exactly when lanes is 1
  std::vector<Remark> remarks;  ///< in the order of the user's texts; one of each kind at a place
  std::vector<std::pair<std::string, std::string>> texts;  ///< the user's texts by the names that remarks give

  /// For people: the lanes or the reason, then each remark with the user's line and a caret.
  IRUKA_API std::string to_string() const;
};

}  // namespace iruka
