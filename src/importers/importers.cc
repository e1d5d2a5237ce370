#include "importers/importers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "importers/importer.h"

namespace beryl::importers {
namespace {

constexpr size_t kSniffBytes = size_t{64} << 10;

// The table of formats.
const std::array<std::unique_ptr<Importer>, 5>& Importers() {
  static const std::array<std::unique_ptr<Importer>, 5> kTable = {
      MakePyTorchImporter(), MakePyTorchLegacyImporter(), MakeTensorFlowImporter(),
      MakeXPlaneImporter(),  MakeXlaTraceImporter(),
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
    return MisuseError(fmt::format("unknown format '{}'; known are: {}", format, FormatNames()));
  }
  auto first = source.Peek(kSniffBytes);
  if (!first) return first.error();
  const size_t start = first->find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (start == std::string_view::npos) {
    return InvalidError(
        fmt::format("{}: empty at byte 0: expected '{{' or '[', the start of a trace in JSON{}",
                    source.name(), source.damage().empty() ? "" : " (" + source.damage() + ")"));
  }
  const Importer* best = nullptr;
  int best_score = 0;
  for (const auto& importer : Importers()) {
    const int score = importer->Sniff(*first);
    if (score > best_score) {
      best_score = score;
      best = importer.get();
    }
  }
  if (best != nullptr) return best;
  if ((*first)[start] != '{' && (*first)[start] != '[') {
    return InvalidError(
        fmt::format("{}: not JSON at byte {}: expected '{{' or '[', the start of a trace, found "
                    "'{}'. Formats that can be read: {}",
                    source.name(), start, Printable(first->substr(start, 1)), FormatNames()));
  }
  return InvalidError(
      fmt::format("{}: not a trace in a known format, judging by its first {} bytes. Known are: "
                  "{}. If it is one of these, "
                  "name it with --ops-format",
                  source.name(), first->size(), FormatNames()));
}

// A file that tells no steps apart is one step; the n-th files of all ranks are the same one.
void AddFileAsStep(const std::string& rank, size_t first_op, OpTrace& trace) {
  const auto earlier =
      std::count_if(trace.reports.begin(), trace.reports.end(),
                    [&](const ImportReport& report) { return report.rank == rank; });
  const uint32_t number =
      trace.StepNumber(fmt::format("file {}", earlier + 1), trace.ops[first_op].start);
  RunStep& step = trace.steps[number];
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

Result<bool> Import(ByteSource& source, const ImportOptions& options, OpTrace& trace) {
  auto importer = Choose(source, options.format);
  if (!importer) return importer.error();
  ImportReport report;
  report.file = source.name();
  report.format = (*importer)->Descriptor().name;
  const size_t ops_before = trace.ops.size();
  const size_t steps_before = trace.steps.size();
  report.rank = options.rank;
  if (auto ok = (*importer)->Read(source, options, trace, report); !ok) return ok.error();
  if (!source.damage().empty()) {
    report.Count({NoteKind::kFileDamaged, "", {source.damage()}}, source.file_position());
  }
  report.operations = trace.ops.size() - ops_before;
  // A rank may go through steps that another one's file has told already.
  const bool tells_steps =
      trace.steps.size() > steps_before ||
      std::any_of(trace.ops.begin() + static_cast<std::ptrdiff_t>(ops_before), trace.ops.end(),
                  [](const Op& op) { return op.step != kNoStep; });
  if (!tells_steps && report.operations > 0) {
    AddFileAsStep(report.rank, ops_before, trace);
  }
  trace.reports.push_back(std::move(report));
  return true;
}

}  // namespace beryl::importers
