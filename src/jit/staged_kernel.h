// What a StagedKernel holds between calls: a kernel of all stages for batches of slices, and a kernel of each stage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iruka/staged_kernel.h"
#include "jit/kernel_state.h"

namespace iruka {

struct StagedKernel::State {
  jit::KernelText front;  ///< name and parameters, as calls are checked by them
  jit::KernelText typed;  ///< the same with intermediates behind the outputs
  jit::Placeholders placeholders;
  std::vector<Parameter> intermediates;
  std::vector<Stage> stages;
  StagedKernelOptions options;
  std::shared_ptr<ElementwiseKernel::State> together;  ///< all stages, one after the other
  std::vector<std::shared_ptr<ElementwiseKernel::State>> apart;
  jit::PendingWarnings warnings;

  const std::vector<jit::StageText>& texts() const { return together->text.stages; }
  /// Moves a kernel's new warnings here.
  void take_warnings(ElementwiseKernel::State& of) {
    std::vector<std::string> told = of.warnings.take();
    if (!told.empty()) warnings.add(std::move(told));
  }
};

}  // namespace iruka
