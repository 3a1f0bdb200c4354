#include "jit/report.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <tuple>

#include "jit/diagnose.h"
#include "jit/trial.h"

namespace iruka::jit {
namespace {

/// Remarks in the order of the user's texts, then those without a place; one of each kind per place. Remarks that
/// have no place are distinguished by their messages.
std::vector<Remark> in_text_order(std::vector<Remark> remarks, const Texts& texts) {
  const auto text_number = [&](const Remark& remark) {
    return std::ranges::find(texts, remark.file, &Texts::value_type::first) - texts.begin();
  };
  const auto place = [&](const Remark& remark) {
    return std::tuple(text_number(remark), std::string_view(remark.file), remark.line, remark.column, remark.kind,
                      remark.line > 0 ? std::string_view() : std::string_view(remark.message));
  };
  std::ranges::stable_sort(remarks, {}, place);
  const auto repeated = std::ranges::unique(remarks, {}, place);
  remarks.erase(repeated.begin(), repeated.end());
  return remarks;
}

std::string describe_remark(const Remark& remark, const Texts& texts) {
  std::string words = "\n  ";
  if (!remark.file.empty() && remark.line > 0) {
    words += remark.file + ":" + std::to_string(remark.line) + ":";
    if (remark.column > 0) words += std::to_string(remark.column) + ":";
    words += " ";
  }
  return words + remark.message + quote(texts, remark.file, remark.line, remark.column);
}

std::string measured_words(int lanes, double ratio) {
  char words[160];
  std::snprintf(words, sizeof(words), "%d lanes were measured to take %.2f times as long as the scalar path", lanes,
                ratio);
  return words;
}

/// The result of a trial replaces the compiler's estimate.
LaneReport measured_report(Device& device, ProgramSource source, const ErrorContext& context,
                           const MeasuredLanes& measured) {
  LaneReport report = compile_only(device, source, context).report;
  const bool is_refused = report.lanes == 1 && measured.rival_lanes > 1;
  if (measured.per_scalar <= 0 || (report.lanes == 1 && !is_refused)) return report;
  const std::string words = measured_words(is_refused ? measured.rival_lanes : report.lanes, measured.per_scalar);
  if (Trial::is_scalar_faster(measured.per_scalar)) {
    report.lanes = 1;
    report.reason = words;
    return report;
  }
  if (is_refused) {
    source.options.push_back("--lanes=" + std::to_string(measured.rival_lanes));
    report = compile_only(device, source, context).report;
  }
  report.remarks.push_back({Remark::Kind::note, "", 0, 0, words});
  return report;
}

}  // namespace

KernelReport report(Device& device, ProgramSource source, const ErrorContext& context, const MeasuredLanes& measured) {
  source.wants_report = true;
  LaneReport report = measured_report(device, std::move(source), context, measured);
  return {context.kernel_name,
          device.name(),
          report.lanes,
          std::move(report.reason),
          in_text_order(std::move(report.remarks), context.texts),
          context.texts};
}

}  // namespace iruka::jit

namespace iruka {

const char* name(Remark::Kind kind) {
  constexpr const char* kNames[] = {"not_widened",    "note",     "gather",      "scatter", "divergent_branch",
                                    "divergent_loop", "per_lane", "interleaved", "spill"};
  static_assert(std::size(kNames) == static_cast<size_t>(Remark::Kind::spill) + 1);
  return kNames[static_cast<size_t>(kind)];
}

std::string KernelReport::to_string() const {
  std::string words = "kernel '" + kernel + "' on " + device + ": ";
  words += lanes > 1 ? std::to_string(lanes) + " lanes a vector" : "not widened: " + reason;
  for (const Remark& remark : remarks) {
    const bool is_told = remark.line == 0 && remark.message == reason;
    if (!is_told) words += jit::describe_remark(remark, texts);
  }
  return words;
}

}  // namespace iruka
