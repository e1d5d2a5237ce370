#include "cli/dataset_arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "learn/learn.h"

namespace beryl::cli {
namespace {

// Coefficients of a few regressors: far above what any has.
constexpr size_t kLargestModel = size_t{64} << 20;
constexpr size_t kFewNames = 12;
constexpr size_t kNear = 3;

}  // namespace

void AddDataArgument(CLI::App& command, std::string& data) {
  command
      .add_option("data", data,
                  "A folder of *_level_features.csv, one such file, or trees as JSON lines")
      ->required()
      ->type_name("DATA");
}

void AddProfileOption(CLI::App& command, std::string& profile) {
  command
      .add_option("--profile", profile,
                  "What predicts energy: the name of a profile that comes with the program, or a "
                  "file that beryl train wrote")
      ->type_name("NAME|FILE");
}

Result<Dataset> ReadData(const std::string& path, bool needs_energy) {
  learn::DatasetOptions options;
  options.needs_energy = needs_energy;
  return learn::ReadDataset(path, options);
}

Result<EnergyModel> FindModel(const std::string& profile) {
  if (auto bundled = learn::FindProfile(profile)) {
    if (bundled->name.empty()) bundled->name = profile;
    return *std::move(bundled);
  }
  auto source = ByteSource::Open(profile);
  if (!source) {
    return Error{source.error().code,
                 fmt::format("profile '{}': no profile of this name comes with the program ({}), "
                             "and as a file: {}",
                             Printable(profile), fmt::join(learn::ProfileNames(), ", "),
                             source.error().message)};
  }
  auto text = ReadAll(*source, kLargestModel);
  if (!text) return text.error();
  return learn::ReadEnergyModel(*std::move(text), profile);
}

void SayFindings(const std::vector<DataFinding>& findings) {
  for (const DataFinding& finding : findings) {
    fmt::print(stderr, "note: {}: {} times", Printable(finding.what), FormatCount(finding.count));
    if (!finding.first.empty()) fmt::print(stderr, ", first at {}", Printable(finding.first));
    fmt::print(stderr, "\n");
  }
}

std::string NearNames(const std::string& word, const std::vector<std::string>& known) {
  std::vector<std::string> near;
  for (const std::string& name : known) {
    // A part of a long name is near too: "bert" is one of the BERTs.
    if (EditDistance(name, word) <= kNear ||
        (!word.empty() && name.find(word) != std::string::npos)) {
      near.push_back(fmt::format("'{}'", Printable(name)));
    }
  }
  std::stable_sort(near.begin(), near.end(), [&](const auto& a, const auto& b) {
    return EditDistance(a, word) < EditDistance(b, word);
  });
  if (near.size() > kFewNames) near.resize(kFewNames);
  if (!near.empty()) return fmt::format("; did you mean {}?", fmt::join(near, ", "));
  if (known.empty() || known.size() > kFewNames) return "";
  return fmt::format("; there are {}", fmt::join(known, ", "));
}

}  // namespace beryl::cli
