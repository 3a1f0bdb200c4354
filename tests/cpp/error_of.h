// What an error says, for tests that compare it.
#pragma once

#include <string>

namespace iruka::test {

/// What the Expected that `call` throws says; "no error" if it throws nothing.
template <class Expected, class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace iruka::test
