#include "flows/library_dataset.h"

#include <utility>

#include "flows/lent_files.h"
#include "flows/read_data.h"

namespace beryl::flows {

Result<Dataset> ReadLibraryDataset(store::Library& library, const LibraryEntry& dataset,
                                   bool needs_energy, const std::vector<std::string>& models) {
  const auto lent =
      TRY(dataset.files.size() == 1 ? LentFiles::Apart(library, dataset.files)
                                    : LentFiles::Together(library, dataset.files, dataset.name));
  auto data = ReadData(lent.places().front(), needs_energy, models);
  if (!data) return lent.Forget(std::move(data).error());
  lent.Forget(data->name);
  lent.Forget(data->notes);
  return data;
}

Result<store::AddedEntry> AddDatasetToLibrary(store::Library& library, LibraryEntry dataset) {
  if (dataset.files.empty()) return MisuseError("a data set has at least one file");
  dataset.kind = EntryKind::kDataset;
  if (dataset.name.empty()) dataset.name = dataset.files.front().name;
  const Dataset data = TRY(ReadLibraryDataset(library, dataset, false));
  const std::vector<std::string> models = ModelsOf(data);
  if (dataset.model.empty() && models.size() == 1) dataset.model = models.front();
  return library.Add(std::move(dataset));
}

}  // namespace beryl::flows
