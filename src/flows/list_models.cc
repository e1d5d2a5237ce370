#include "flows/list_models.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "models/models.h"
#include "types/provenance.h"

namespace beryl::flows {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A family's name means that family; else a part of a name, or a pattern with * and ?.
std::vector<models::CatalogEntry> EntriesLike(const std::string& given) {
  const std::string pattern = Lower(given);
  const bool is_glob = pattern.find_first_of("*?[") != std::string::npos;
  std::vector<models::CatalogEntry> family;
  std::vector<models::CatalogEntry> named;
  for (const models::CatalogEntry& entry : models::Catalog()) {
    const std::string name = Lower(entry.name);
    if (Lower(entry.family) == pattern) family.push_back(entry);
    if (is_glob ? ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0
                : name.find(pattern) != std::string::npos) {
      named.push_back(entry);
    }
  }
  return family.empty() ? named : family;
}

}  // namespace

Result<ModelList> ListModels(const std::string& pattern) {
  ModelList list;
  list.provenance = MakeProvenance({});
  for (const models::CatalogEntry& entry : EntriesLike(pattern)) {
    const auto description = TRY(models::Describe({entry.name, entry.config}, {}));
    ModelList::Row row;
    row.name = entry.name;
    row.family = entry.family;
    row.parameters = description.nodes[0].parameters;
    row.layers = LayersOf(description);
    row.flops = description.nodes[0].work.flops;
    row.tokens = description.input.seq;
    list.rows.push_back(std::move(row));
  }
  if (list.rows.empty()) {
    return InvalidError(fmt::format("no model of the catalog matches '{}'; families: {}",
                                    Printable(pattern), models::FamilyNames()));
  }
  return list;
}

}  // namespace beryl::flows
