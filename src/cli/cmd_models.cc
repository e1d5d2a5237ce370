#include "cli/output.h"
#include "flows/list_models.h"
#include "flows/list_profiles.h"

namespace beryl::cli {
namespace {

constexpr CommandText kModels = {"models", "List the models known by name", R"(OUTPUT
Each model's family, layers and parameters, and the floating-point operations of one input. For any other
model of these families, give its config.json.

EXAMPLES
  beryl models
  beryl models bert
  beryl models 'google/*'
  beryl models llama --format csv)"};

constexpr CommandText kProfiles = {"profiles", "List the machines that can be predicted for",
                                   R"(OUTPUT
Each profile's name, short names, machine and memory, and whether it is calibrated: learned from a meter, not
from a datasheet. Any of the names goes behind --profile; case, blanks, '-' and '_' do not matter. For any
other machine, `beryl train` writes a profile, and docs/datasheets.md says how to write a datasheet.

EXAMPLES
  beryl profiles
  beryl profiles h100
  beryl profiles --format csv
  beryl predict gpt2 --profile a100,h100)"};

struct ListArguments {
  std::string pattern;
  OutputArguments output;
};

template <auto kList>
Result<int> RunList(const ListArguments& arguments) {
  return WriteResult(arguments.output, [&](auto&) { return kList(arguments.pattern); });
}

}  // namespace

void AddModels(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kModels, group, RunList<flows::ListModels>);
  command.Argument("FAMILY|PATTERN", arguments.pattern,
                   "A family, a part of a name, or a name with * and ?; default: all");
  AddOutputOptions(command, arguments.output, views::kFormats<ModelList>);
}

void AddProfiles(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kProfiles, group, RunList<flows::ListProfiles>);
  command.Argument("PART", arguments.pattern, "A part of a name or machine; default: all");
  AddOutputOptions(command, arguments.output, views::kFormats<ProfileList>);
}

}  // namespace beryl::cli
