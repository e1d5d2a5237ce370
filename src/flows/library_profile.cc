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
  const EnergyModel model = TRY(ReadLibraryProfile(library, profile));
  const EntryFile file = profile.files.front();
  return library.Add(ProfileEntry(model, file, std::move(profile)));
}

LibraryEntry ProfileEntry(const EnergyModel& model, const EntryFile& file, LibraryEntry said) {
  said.kind = EntryKind::kProfile;
  if (said.name.empty()) said.name = model.name;
  if (said.name.empty()) said.name = file.name;
  if (said.machine.empty()) said.machine = model.trained_on.machine;
  said.files = {file};
  return said;
}

}  // namespace beryl::flows
