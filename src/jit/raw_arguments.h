// The arguments of a launch as the bytes of a kernel's parameters.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iruka/raw_kernel.h"
#include "jit/raw_signature.h"

namespace iruka::jit {

/// A block that begins with room for a head (RawSignature::kHeadBytes), behind which each parameter has its place.
/// Small blocks are part of the object.
class RawValues {
 public:
  /// Raises TypeError, ValueError or OverflowError, which name `kernel` and the argument, for arguments that the
  /// parameters do not take.
  RawValues(const std::string& kernel, const RawSignature& signature, std::span<const RawArgument> arguments,
            const Device& device);
  RawValues(const RawValues&) = delete;
  RawValues& operator=(const RawValues&) = delete;

  std::byte* block() { return block_; }
  size_t bytes() const { return signature_->bytes; }
  /// The bytes of each parameter.
  std::span<const ParameterBytes> parameters();

 private:
  const RawSignature* signature_;
  RawSignature guessed_;  ///< of arguments, where the parameters are not known
  std::byte* block_;
  std::unique_ptr<std::byte[]> heap_;
  std::vector<ParameterBytes> many_;
  alignas(64) std::byte inline_[1024];
  ParameterBytes few_[32];
};

/// Where the first array lies; the default device if there is none. Raises ValueError if another array lies elsewhere.
Device& device_of(const std::string& kernel, std::span<const RawArgument> arguments);

}  // namespace iruka::jit
