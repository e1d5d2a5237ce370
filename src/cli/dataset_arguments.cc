#include "cli/dataset_arguments.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/run_data.h"
#include "cli/terminal.h"
#include "learn/learn.h"

namespace beryl::cli {
namespace {

// Coefficients of a few regressors: far above what any has.
constexpr size_t kLargestModel = size_t{64} << 20;
constexpr size_t kLargestSheet = size_t{16} << 20;
constexpr size_t kFewNames = 12;
constexpr size_t kNear = 3;

}  // namespace

Check FiniteAbove0() {
  return Check([](const std::string& text) {
    const auto number = ParseNumber(text);
    return number && *number > 0 ? std::string() : "'" + text + "' is not a number above 0";
  });
}

Check FiniteFrom0() {
  return Check([](const std::string& text) {
    const auto number = ParseNumber(text);
    return number && *number >= 0 ? std::string() : "'" + text + "' is not a number from 0";
  });
}

void AddDataArgument(Command& command, std::string& data) {
  command
      .add_option("data", data,
                  "A folder of *_level_features.csv, one such file, trees as JSON lines, a run "
                  "file of beryl import, or a folder of those")
      ->required()
      ->type_name("DATA");
}

void AddProfileOption(Command& command, std::string& profile) {
  command
      .add_option("--profile", profile,
                  "What predicts energy: the name of a profile that comes with the program, or a "
                  "file that beryl train wrote")
      ->type_name("NAME|FILE");
}

void AddModelOption(Command& command, std::string& model) {
  command.add_option("--model", model, "Only this model of the data; default: all")
      ->type_name("NAME");
}

void AddSizeOptions(Command& command, std::optional<double>& batch_size,
                    std::optional<double>& seq_len, const std::string& otherwise) {
  command.add_option("--batch", batch_size, "Batch size; " + otherwise)
      ->check(FiniteAbove0())
      ->type_name("B");
  command.add_option("--seq", seq_len, "Sequence length; " + otherwise)
      ->check(FiniteAbove0())
      ->type_name("S");
}

void AddRunModelsOption(Command& command, std::vector<std::string>& models) {
  command
      .add_option(
          "--model", models,
          "Of run files: the model that ran, of all of them or of RUN; may be given several "
          "times")
      ->type_name("[RUN=]NAME|CONFIG")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

Result<Dataset> ReadData(const std::string& path, bool needs_energy,
                         const std::vector<std::string>& models) {
  if (IsRunData(path)) {
    const auto of_runs = ParseModelsOfRuns(models);
    if (!of_runs) return of_runs.error();
    return ReadRunData(path, *of_runs);
  }
  if (!models.empty()) {
    return MisuseError(fmt::format(
        "--model: {} is no run file or folder of run files; data sets name their models", path));
  }
  learn::DatasetOptions options;
  options.needs_energy = needs_energy;
  return learn::ReadDataset(path, options);
}

Result<bool> KeepRuns(Dataset& data, const std::string& model, std::optional<double> batch_size,
                      std::optional<double> seq_len) {
  const std::vector<std::string> models = ModelsOf(data);
  if (!model.empty() && std::count(models.begin(), models.end(), model) == 0) {
    return MisuseError(fmt::format("--model '{}' is not in {}{}", Printable(model),
                                   Printable(data.name), NearNames(model, models)));
  }
  std::erase_if(data.runs,
                [&](const ModelRun& run) { return !model.empty() && run.model != model; });
  std::vector<std::string> sizes;
  for (const ModelRun& run : data.runs) {
    sizes.push_back(InputText(run));
  }
  std::erase_if(data.runs, [&](const ModelRun& run) {
    return (batch_size && run.batch_size != *batch_size) || (seq_len && run.seq_len != *seq_len);
  });
  if (!data.runs.empty() || sizes.empty()) return true;
  const size_t more = sizes.size() - std::min(sizes.size(), kFewNames);
  sizes.resize(sizes.size() - more);
  return MisuseError(fmt::format("{} has no run of that batch size and length; there are {}{}",
                                 Printable(data.name), fmt::join(sizes, ", "),
                                 more > 0 ? fmt::format(" and {} more", more) : ""));
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

Result<EnergyModel> FindDataModel(const std::string& profile) {
  auto model = FindModel(profile);
  if (!model) return model;
  if (auto ok = learn::CheckPredictsData(*model); !ok) return ok.error();
  return model;
}

Result<AnalysedData> ReadAnalysed(const std::string& path, const std::string& model,
                                  const std::string& profile) {
  AnalysedData input;
  std::optional<EnergyModel> predictor;
  if (!profile.empty()) {
    auto found = FindDataModel(profile);
    if (!found) return found.error();
    predictor = *std::move(found);
  }
  auto data = ReadData(path, false);
  if (!data) return data.error();
  input.data = *std::move(data);
  if (auto ok = KeepRuns(input.data, model); !ok) return ok.error();
  input.origin.data = path;
  input.origin.provenance = MakeProvenance({path}, profile);
  input.origin.notes = input.data.notes;
  input.origin.measured =
      std::any_of(input.data.runs.begin(), input.data.runs.end(), [](const ModelRun& run) {
        return !run.measured.empty() && !std::isnan(run.measured.front());
      });
  if (predictor) {
    input.predicted = learn::Predict(*predictor, input.data, input.origin.notes);
    input.origin.predicted_by = profile;
  }
  return input;
}

Result<std::string> ReadSmallFile(const std::string& path) {
  auto source = ByteSource::Open(path);
  if (!source) return source.error();
  return ReadAll(*source, kLargestSheet);
}

Result<bool> CheckOutput(const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (output == "-" || input.empty()) continue;
    // A folder of data is its files.
    const auto folder = std::filesystem::path(output).parent_path();
    const bool inside = std::filesystem::exists(output, ignored) &&
                        std::filesystem::is_directory(input, ignored) &&
                        std::filesystem::equivalent(folder.empty() ? "." : folder, input, ignored);
    if (output == input || inside || std::filesystem::equivalent(output, input, ignored)) {
      return MisuseError(
          fmt::format("-o {} would overwrite an input; choose another file", output));
    }
  }
  return true;
}

views::ViewOptions ViewOf(const OutputArguments& output) {
  views::ViewOptions view;
  view.width = TerminalWidth(output.to_stdout());
  view.color = WantColor(output.color, output.to_stdout());
  return view;
}

std::string NearNames(const std::string& word, const std::vector<std::string>& known) {
  std::vector<std::string> near;
  // Of a short word, everything is a few letters away.
  const size_t most = std::min(kNear, std::max<size_t>(1, word.size() / 3));
  for (const std::string& name : known) {
    // A part of a long name is near too: "bert" is one of the BERTs.
    if (EditDistance(name, word) <= most ||
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
