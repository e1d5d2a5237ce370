#include "cli/described_data.h"

#include <map>
#include <string>

#include <fmt/format.h>

#include "models/models.h"

namespace beryl::cli {

void DescribeRuns(Dataset& data) {
  std::map<std::string, DataFinding> missing;  // by reason
  for (ModelRun& run : data.runs) {
    std::string reason;
    if (run.description) continue;  // a run of one's own, aligned with its model
    if (run.batch_size < 1 || run.seq_len < 1) {
      reason = "runs have no batch size or length, so their model cannot be described";
    } else if (const auto config = models::FindConfig(run.model); !config) {
      reason = fmt::format("runs of {}, which is not in the catalog: not described", run.model);
    } else {
      auto description =
          models::Describe(*config, {.input = {.batch = static_cast<int64_t>(run.batch_size),
                                               .seq = static_cast<int64_t>(run.seq_len)}});
      if (description) {
        run.description = std::make_shared<const Description>(std::move(*description));
      } else {
        reason = "not described: " + description.error().message;
      }
    }
    if (reason.empty()) continue;
    DataFinding& finding = missing[reason];
    finding.what = reason;
    if (finding.count++ == 0) finding.first = fmt::format("{} {}", run.model, InputText(run));
  }
  for (const auto& [reason, finding] : missing) data.findings.push_back(finding);
}

}  // namespace beryl::cli
