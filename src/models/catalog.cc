#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/text.h"
#include "models/embedded.h"
#include "models/families.h"
#include "models/models.h"

namespace beryl::models {
namespace {

constexpr size_t kLongestConfig = 1 << 16;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Whatever their case.
bool AreSame(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char c, unsigned char d) {
    return std::tolower(c) == std::tolower(d);
  });
}

std::string_view WithoutOrganisation(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

std::vector<CatalogEntry> ReadCatalog() {
  std::vector<CatalogEntry> entries;
  std::string text(embedded::kCatalog);
  const auto walked = json::WalkObject(text, "catalog", [&](json::Key name, json::Value value) {
    CatalogEntry entry;
    entry.name = name.Text();
    entry.config = value.Raw(kLongestConfig);
    entries.push_back(std::move(entry));
  });
  if (!walked) return {};
  for (CatalogEntry& entry : entries) {
    auto config = Config::Parse(entry.config, entry.name);
    if (config) entry.family = config->Text({"model_type"}, "");
  }
  return entries;
}

// "; did you mean 'gpt2'?"
std::string NearNames(std::string_view name) {
  const std::string wanted = Lower(WithoutOrganisation(name));
  std::vector<std::pair<size_t, std::string>> near;
  for (const CatalogEntry& entry : Catalog()) {
    const std::string candidate = Lower(WithoutOrganisation(entry.name));
    // A name that begins with the word comes first: "bert" is a BERT before it is an ALBERT.
    const size_t at = wanted.empty() ? std::string::npos : candidate.find(wanted);
    const size_t distance = at == 0                   ? 0
                            : at != std::string::npos ? 1
                                                      : EditDistance(wanted, candidate);
    if (distance <= std::max<size_t>(2, wanted.size() / 4)) near.emplace_back(distance, entry.name);
  }
  if (near.empty()) return "";
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = "; did you mean ";
  for (size_t i = 0; i < std::min<size_t>(3, near.size()); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", near[i].second);
  }
  return text + "?";
}

}  // namespace

const std::vector<CatalogEntry>& Catalog() {
  static const std::vector<CatalogEntry> kEntries = ReadCatalog();
  return kEntries;
}

Result<ModelConfig> FindConfig(std::string_view name) {
  for (const CatalogEntry& entry : Catalog()) {
    if (AreSame(entry.name, name)) return ModelConfig{entry.name, entry.config};
  }
  for (const CatalogEntry& entry : Catalog()) {
    if (AreSame(WithoutOrganisation(entry.name), WithoutOrganisation(name))) {
      return ModelConfig{entry.name, entry.config};
    }
  }
  return InvalidError(
      fmt::format("'{}' is neither a file nor a model of the catalog{} `beryl models` lists the "
                  "catalog; for any other model give its config.json",
                  Printable(name), NearNames(name).empty() ? ";" : NearNames(name)));
}

std::string FamilyNames() {
  std::vector<std::string_view> names;
  for (const Family& family : Families()) names.push_back(family.model_type);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view LineageOf(std::string_view family) {
  const Family* known = FindFamily(family);
  return known == nullptr ? std::string_view() : known->lineage;
}

}  // namespace beryl::models
