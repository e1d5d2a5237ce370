#include "cli/described_data.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/models.h"

namespace beryl::cli {

void DescribeRuns(Dataset& data) {
  for (ModelRun& run : data.runs) {
    std::optional<Note> missing;
    if (run.description) continue;  // a run of one's own, aligned with its model
    if (run.batch_size < 1 || run.seq_len < 1) {
      missing = NoteKind::kRunWithoutSize;
    } else if (const auto config = models::FindConfig(run.model); !config) {
      missing = Note(NoteKind::kModelNotInCatalog, run.model);
    } else {
      auto description =
          models::Describe(*config, {.input = {.batch = static_cast<int64_t>(run.batch_size),
                                               .seq = static_cast<int64_t>(run.seq_len)}});
      if (description) {
        run.description = std::make_shared<const Description>(std::move(*description));
      } else {
        missing = Note(NoteKind::kModelNotDescribed, "", {description.error().message});
      }
    }
    if (!missing) continue;
    missing->first = fmt::format("{} {}", run.model, InputText(run));
    CountNote(data.notes, *missing);
  }
}

}  // namespace beryl::cli
