#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "models/models.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription = "List the models that are known by name";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
Each model's family, layers and parameters, and the floating-point operations of one input. Any other
model of these families is described by its config.json.

EXIT STATUS
  0 done   1 failed, or none is like that   2 wrong use

EXAMPLES
  beryl models
  beryl models bert
  beryl models 'google/*'
  beryl models llama --format csv)";

struct ModelsArguments {
  std::string pattern;
  OutputArguments output;
};

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

Result<ModelList> ListModels(const std::string& pattern) {
  ModelList list;
  list.provenance = MakeProvenance({});
  for (const models::CatalogEntry& entry : EntriesLike(pattern)) {
    const auto description = models::Describe({entry.name, entry.config}, {});
    if (!description) return description.error();
    ModelList::Row row;
    row.name = entry.name;
    row.family = entry.family;
    row.parameters = description->nodes[0].parameters;
    row.layers = LayersOf(*description);
    row.flops = description->nodes[0].work.flops;
    row.tokens = description->input.seq;
    list.rows.push_back(std::move(row));
  }
  if (list.rows.empty()) {
    return InvalidError(fmt::format("no model of the catalog is like '{}'; families: {}",
                                    Printable(pattern), models::FamilyNames()));
  }
  return list;
}

int RunModels(const ModelsArguments& arguments) {
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  const auto list = ListModels(arguments.pattern);
  if (!list) return Fail(list.error());
  if (auto ok = output->Commit(
          views::Write(*list, FormatOf(arguments.output.format), ViewOf(arguments.output)));
      !ok) {
    return Fail(ok.error());
  }
  return kSuccess;
}

}  // namespace

void AddModelsCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<ModelsArguments>();
  Command* command = app.add_subcommand("models", kDescription);
  command->footer(kFooter);
  command
      ->add_option("pattern", arguments->pattern,
                   "A family, a part of a name, or a name with * and ?; default: all")
      ->type_name("FAMILY|PATTERN");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunModels(*arguments); });
}

}  // namespace beryl::cli
