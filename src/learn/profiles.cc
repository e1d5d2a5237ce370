// The profiles that ship with the program: first the trained ones, one file each, then the
// datasheets.
#include "learn/profiles.h"

#include <array>
#include <utility>

#include "learn/embedded.h"
#include "learn/energy_model_file.h"
#include "learn/methods/datasheet.h"

namespace beryl::learn {
namespace {

struct Bundled {
  std::string_view name;
  std::string_view text;
  std::string_view device;  // the datasheet of its GPU, which has the memory
};

const std::array<Bundled, 1>& All() {
  static const std::array<Bundled, 1> kAll = {{
      {"gtx1080ti-i9-7900x", embedded::kGtx1080Ti, "gtx-1080-ti"},
  }};
  return kAll;
}

// Short names of profiles that have a longer one.
struct Alias {
  std::string_view name;
  std::string_view of;
};
constexpr Alias kAliases[] = {
    {"1080ti", "gtx1080ti-i9-7900x"},
    {"2080ti", "rtx-2080-ti"},
    {"3090", "rtx-3090"},
    {"4090", "rtx-4090"},
    {"v100", "v100-sxm2-32gb"},
    {"a100", "a100-80gb-sxm"},
    {"a100-40gb", "a100-40gb-pcie"},
    {"h100", "h100-sxm"},
    {"h200", "h200-sxm"},
    {"mi250x", "mi250x-gcd"},
};

// "rtx4090" and "RTX 4090" are rtx-4090.
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') continue;
    plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return plain;
}

// The full name; `name` itself if it is none that is known.
std::string FullName(std::string_view name) {
  for (const std::string& known : ProfileNames()) {
    if (Plain(known) == Plain(name)) return known;
  }
  for (const Alias& alias : kAliases) {
    if (Plain(alias.name) == Plain(name)) return std::string(alias.of);
  }
  return std::string(name);
}

}  // namespace

std::vector<std::string> ProfileNames() {
  std::vector<std::string> names;
  for (const Bundled& profile : All()) names.emplace_back(profile.name);
  for (std::string& name : DatasheetNames()) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> AliasesOf(std::string_view name) {
  std::vector<std::string> aliases;
  for (const Alias& alias : kAliases) {
    if (alias.of == name) aliases.emplace_back(alias.name);
  }
  return aliases;
}

std::optional<EnergyModel> FindProfile(std::string_view given) {
  const std::string name = FullName(given);
  for (const Bundled& profile : All()) {
    if (profile.name != name) continue;
    auto model = ReadEnergyModel(std::string(profile.text), std::string(profile.name));
    if (!model) continue;
    if (const auto sheet = FindDatasheet(profile.device)) model->trained_on.memory = sheet->memory;
    return *std::move(model);
  }
  if (auto sheet = FindDatasheet(name)) {
    EnergyModel model;
    model.method = Method::kDatasheet;
    model.name = name;
    model.trained_on.machine = sheet->device;
    model.trained_on.memory = sheet->memory;
    model.learned = *std::move(sheet);
    return model;
  }
  return std::nullopt;
}

}  // namespace beryl::learn
