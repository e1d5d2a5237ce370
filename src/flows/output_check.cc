#include "flows/output_check.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "flows/run_data.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

// The parts of a value that may be file names, and the whole of it first.
std::vector<std::string> NamesIn(const std::string& value) {
  std::vector<std::string> names = {value};
  for (const std::string_view part : Split(value, ',')) {
    for (const std::string_view piece : Split(part, '=')) {
      names.emplace_back(piece);
      for (const std::string_view end : Split(piece, '@')) names.emplace_back(end);
    }
  }
  for (const std::string_view rank : Split(value, '+')) names.emplace_back(rank);
  return names;
}

// Whether `output` is a file that exists in the folder `name`, or below: the traces in the log
// folder of a profiler are several folders deep.
bool IsInside(const std::string& output, const std::string& name) {
  std::error_code failed;
  if (!fs::exists(output, failed) || !fs::is_directory(name, failed)) return false;
  const fs::path file = fs::canonical(output, failed);
  if (failed) return false;
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    if (fs::equivalent(folder, name, failed)) return true;
    if (!folder.has_relative_path()) return false;
  }
}

bool Names(const GivenValue& given, const std::string& output) {
  if (given.value == output && given.may_be_folder) return true;
  for (const std::string& name : NamesIn(given.value)) {
    std::error_code ignored;
    if (name.empty()) continue;
    if (fs::equivalent(name, output, ignored)) return true;
    if (given.may_be_folder && IsInside(output, name)) return true;
  }
  return false;
}

}  // namespace

Status CheckOutput(const std::string& option, const std::string& output,
                   const std::vector<GivenValue>& others) {
  if (output.empty() || output == "-") return {};
  for (const GivenValue& given : others) {
    if (!Names(given, output)) continue;
    return MisuseError(fmt::format("{} {}: this is one of the inputs; name another file", option,
                                   Printable(output)));
  }
  return {};
}

Status CheckTakesNoRun(const std::string& option, const std::string& output, bool can_force) {
  if (!IsRunFile(output)) return {};
  return MisuseError(
      fmt::format("{} {}: this is a run file, perhaps a recording; name another "
                  "file, or {}",
                  option, Printable(output), can_force ? "replace it" : "remove it first"),
      can_force ? std::vector<std::string_view>{"force"} : std::vector<std::string_view>{});
}

}  // namespace beryl::flows
