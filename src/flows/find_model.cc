#include "flows/find_model.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "flows/near_names.h"
#include "learn/energy_model_file.h"
#include "learn/profiles.h"

namespace beryl::flows {
namespace {

constexpr size_t kLargestConfig = size_t{1} << 20;
// Far above the size of any model file.
constexpr size_t kLargestModel = size_t{64} << 20;

Result<models::ModelConfig> ReadConfigFile(const std::string& path) {
  auto source = TRY(ByteSource::Open(path));
  auto text = TRY(ReadAll(source, kLargestConfig));
  const std::string& name = source.name();
  if (Trim(text).empty()) {
    return InvalidError(fmt::format("{}: the file is empty; expected a model's config.json", name));
  }
  return models::ModelConfig{name, std::move(text)};
}

// "; did you mean 'h100-sxm'?", or only the end of a sentence.
std::string SimilarProfiles(const std::string& profile) {
  std::vector<std::string> known = learn::ProfileNames();
  for (const std::string& name : learn::ProfileNames()) {
    for (std::string& alias : learn::AliasesOf(name)) known.push_back(std::move(alias));
  }
  const std::string near = NearNames(profile, known);
  return near.empty() ? ";" : near;
}

}  // namespace

Result<models::ModelConfig> ReadConfig(const std::string& model) {
  std::error_code ignored;
  if (model == "-") return ReadConfigFile(model);
  if (std::filesystem::is_directory(model, ignored)) {
    const std::string inside = (std::filesystem::path(model) / "config.json").string();
    if (std::filesystem::exists(inside, ignored)) return ReadConfigFile(inside);
    // A folder of results may have the name of a model.
    if (auto known = models::FindConfig(model)) return known;
    return InvalidError(
        fmt::format("{}: the folder has no config.json; a downloaded model has one", model));
  }
  if (std::filesystem::exists(model, ignored)) return ReadConfigFile(model);
  return models::FindConfig(model);
}

Result<EnergyModel> FindProfile(const std::string& profile) {
  auto bundled = learn::FindProfile(profile);
  if (!bundled) {
    return InvalidError(fmt::format("profile '{}': no profile of this name comes with the "
                                    "program{} the list of profiles has them",
                                    Printable(profile), SimilarProfiles(profile)),
                        {"profile"});
  }
  if (bundled->name.empty()) bundled->name = profile;
  return *std::move(bundled);
}

Result<EnergyModel> ReadProfile(const std::string& profile) {
  if (auto bundled = FindProfile(profile)) return bundled;
  auto source = ByteSource::Open(profile);
  if (!source) {
    return Error{source.error().code,
                 fmt::format("profile '{}': no profile of this name comes with the program{} "
                             "`beryl profiles` lists them; and it cannot be read as a file: {}",
                             Printable(profile), SimilarProfiles(profile), source.error().message)};
  }
  auto text = TRY(ReadAll(*source, kLargestModel));
  return learn::ReadEnergyModel(std::move(text), profile);
}

std::string WriteProfile(const EnergyModel& model) { return learn::WriteEnergyModel(model); }

}  // namespace beryl::flows
