#include "importers/importers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "importers/importer.h"
#include "types/op_pile.h"

namespace beryl::importers {
namespace {

constexpr size_t kSniffBytes = size_t{64} << 10;

const auto& Importers() {
  static const std::unique_ptr<Importer> kTable[] = {
#define BERYL_IMPORTER(make) make(),
#include "importers/importer_table.inc"
#undef BERYL_IMPORTER
  };
  return kTable;
}

std::string FormatNames() {
  std::vector<std::string_view> names;
  for (const auto& importer : Importers()) names.push_back(importer->Descriptor().name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<const Importer*> Choose(ByteSource& source, const std::string& format) {
  if (format != "auto") {
    for (const auto& importer : Importers()) {
      if (importer->Descriptor().name == format) return importer.get();
    }
    return MisuseError(
        fmt::format("unknown format '{}'; known formats: {}", Printable(format), FormatNames()),
        {"ops_format"});
  }
  auto first = TRY(source.Peek(kSniffBytes));
  const size_t start = first.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (start == std::string_view::npos) {
    return InvalidError(
        fmt::format("{}: the file is empty: expected '{{' or '[', the start of a trace in JSON{}",
                    source.name(), source.damage().empty() ? "" : " (" + source.damage() + ")"));
  }
  const Importer* best = nullptr;
  int best_score = 0;
  for (const auto& importer : Importers()) {
    const int score = importer->Sniff(first);
    if (score > best_score) {
      best_score = score;
      best = importer.get();
    }
  }
  if (best != nullptr) return best;
  if (first[start] != '{' && first[start] != '[') {
    return InvalidError(
        fmt::format("{}: not JSON at byte {}: expected '{{' or '[', the start of a trace, found "
                    "'{}'. Known formats: {}",
                    source.name(), start, Printable(first.substr(start, 1)), FormatNames()),
        {"ops_format"});
  }
  return InvalidError(
      fmt::format("{}: not a trace in a known format, judging by its first {} bytes. Known "
                  "formats: {}. If it is one of these, name it",
                  source.name(), first.size(), FormatNames()),
      {"ops_format"});
}

// A file without steps is one step; the n-th files of all ranks are the same step.
void AddFileAsStep(const std::string& rank, size_t first_op, OpTrace& trace) {
  const auto earlier =
      std::count_if(trace.reports.begin(), trace.reports.end(),
                    [&](const ImportReport& report) { return report.rank == rank; });
  const OpGlance::Device packed = trace.packed ? trace.packed->glance().All() : OpGlance::Device();
  const uint32_t number = trace.StepNumber(fmt::format("file {}", earlier + 1),
                                           trace.packed ? packed.start : trace.ops[first_op].start);
  RunStep& step = trace.steps[number];
  if (trace.packed) {
    step.start = std::min(step.start, packed.start);
    step.end = std::max(step.end, packed.end);
    trace.packed = InStep(trace.packed, number);
  }
  for (size_t i = first_op; i < trace.ops.size(); ++i) {
    step.start = std::min(step.start, trace.ops[i].start);
    step.end = std::max(step.end, trace.ops[i].end);
    trace.ops[i].step = number;
  }
}

}  // namespace

std::vector<FormatDescriptor> Formats() {
  std::vector<FormatDescriptor> formats;
  for (const auto& importer : Importers()) formats.push_back(importer->Descriptor());
  return formats;
}

Status Import(ByteSource& source, const ImportOptions& options, OpTrace& trace) {
  auto importer = TRY(Choose(source, options.format));
  ImportReport report;
  report.file = source.name();
  report.format = importer->Descriptor().name;
  const auto first = TRY(source.Peek(kSniffBytes));
  const bool looks_right = importer->Sniff(first) > 0;
  // What is packed is of one file.
  trace.Unpack();
  const size_t ops_before = trace.ops.size();
  const size_t steps_before = trace.steps.size();
  report.rank = options.rank;
  TRY(importer->Read(source, options, trace, report));
  if (!source.damage().empty()) {
    report.Count({NoteKind::kFileDamaged, "", {source.damage()}}, source.file_position());
  }
  report.operations =
      trace.ops.size() - ops_before + (trace.packed ? trace.packed->glance().All().count : 0);
  if (report.operations == 0 && report.events == 0 && !looks_right) {
    return InvalidError(fmt::format("{}: not a trace in the format {}: no operation was found",
                                    source.name(), report.format),
                        {"ops_format"});
  }
  // A rank may go through steps that another rank's file has added already.
  const bool tells_steps =
      trace.steps.size() > steps_before ||
      std::any_of(trace.ops.begin() + static_cast<std::ptrdiff_t>(ops_before), trace.ops.end(),
                  [](const Op& op) { return op.step != kNoStep; });
  if (!tells_steps && report.operations > 0) {
    AddFileAsStep(report.rank, ops_before, trace);
  }
  trace.reports.push_back(std::move(report));
  return {};
}

}  // namespace beryl::importers
