#include "flows/library_profile.h"

#include <utility>

#include "base/file.h"
#include "learn/energy_model_file.h"

namespace beryl::flows {

Result<EnergyModel> ReadLibraryProfile(store::Library& library, const LibraryEntry& profile) {
  if (profile.files.size() != 1) return MisuseError("a profile has one file");
  const EntryFile& file = profile.files.front();
  const std::string path = TRY(library.PathOf(file.stored.digest));
  auto source = TRY(ByteSource::Open(path));
  auto text = TRY(ReadAll(source, learn::kLargestEnergyModel));
  return learn::ReadEnergyModel(std::move(text), file.name);
}

Result<store::AddedEntry> AddProfileToLibrary(store::Library& library, LibraryEntry profile) {
  profile.kind = EntryKind::kProfile;
  const EnergyModel model = TRY(ReadLibraryProfile(library, profile));
  if (profile.name.empty()) profile.name = model.name;
  if (profile.name.empty()) profile.name = profile.files.front().name;
  if (profile.machine.empty()) profile.machine = model.trained_on.machine;
  return library.Add(std::move(profile));
}

Result<store::AddedEntry> AddDatasetToLibrary(store::Library& library, LibraryEntry dataset) {
  if (dataset.files.empty()) return MisuseError("a data set has at least one file");
  dataset.kind = EntryKind::kDataset;
  if (dataset.name.empty()) dataset.name = dataset.files.front().name;
  return library.Add(std::move(dataset));
}

}  // namespace beryl::flows
