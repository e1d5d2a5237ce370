// The profiles that ship with the program: those that were trained, one file each, in a visible
// table, and then those by datasheet.
#include <array>
#include <utility>

#include "learn/datasheet.h"
#include "learn/embedded.h"
#include "learn/learn.h"

namespace beryl::learn {
namespace {

struct Bundled {
  std::string_view name;
  std::string_view text;
};

const std::array<Bundled, 1>& All() {
  static const std::array<Bundled, 1> kAll = {{
      {"gtx1080ti-i9-7900x", embedded::kGtx1080Ti},
  }};
  return kAll;
}

}  // namespace

std::vector<std::string> ProfileNames() {
  std::vector<std::string> names;
  for (const Bundled& profile : All()) names.emplace_back(profile.name);
  for (std::string& name : DatasheetNames()) names.push_back(std::move(name));
  return names;
}

std::optional<EnergyModel> FindProfile(std::string_view name) {
  for (const Bundled& profile : All()) {
    if (profile.name != name) continue;
    auto model = ReadEnergyModel(std::string(profile.text), std::string(profile.name));
    if (model) return *std::move(model);
  }
  if (auto sheet = FindDatasheet(name)) {
    EnergyModel model;
    model.method = Method::kDatasheet;
    model.name = name;
    model.trained_on.machine = sheet->device;
    model.datasheet = *std::move(sheet);
    return model;
  }
  return std::nullopt;
}

}  // namespace beryl::learn
