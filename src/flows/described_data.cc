#include "flows/described_data.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "models/models.h"

namespace beryl::flows {

void DescribeRuns(Dataset& data) {
  for (ModelRun& run : data.runs) {
    std::optional<Note> missing;
    if (run.description) continue;  // the user's own run, already aligned with its model
    if (run.batch_size.value_or(0) < 1 || run.seq_len.value_or(0) < 1) {
      missing = NoteKind::kRunWithoutSize;
    } else if (const auto config = models::FindConfig(run.model); !config) {
      missing = Note(NoteKind::kModelNotInCatalog, run.model);
    } else {
      auto description =
          models::Describe(*config, {.input = {.batch = static_cast<int64_t>(*run.batch_size),
                                               .seq = static_cast<int64_t>(*run.seq_len)}});
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

void NameLineages(Dataset& data) {
  for (ModelRun& run : data.runs) {
    if (run.description) {
      run.lineage = models::LineageOf(run.description->family);
    } else if (const auto config = models::FindConfig(run.model)) {
      const auto& catalog = models::Catalog();
      const auto entry = std::find_if(catalog.begin(), catalog.end(),
                                      [&](const auto& each) { return each.name == config->name; });
      if (entry != catalog.end()) run.lineage = models::LineageOf(entry->family);
    }
  }
}

}  // namespace beryl::flows
