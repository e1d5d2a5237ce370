// Reads a data set of any form: the path and its content decide which reader is used.
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "datasets/datasets.h"
#include "datasets/feature_csv.h"

namespace beryl::datasets {
namespace {

constexpr size_t kLargestCsv = size_t{1} << 30;
// Model rows first: they define the order of runs.
constexpr std::array<const char*, 4> kFolderFiles = {
    "model_level_features.csv", "module_level_features.csv", "ml1_level_features.csv",
    "ml2_level_features.csv"};

Result<std::string> ReadText(ByteSource& source, NoteLog& log) {
  auto text = TRY(ReadAll(source, kLargestCsv));
  if (!source.damage().empty()) {
    log.Count(NoteKind::kCompressedFileDamaged, source.name(), 0, source.damage());
  }
  return text;
}

// Every tree is incomplete if one of the files is missing.
Result<Dataset> ReadFolder(const std::string& path, const DatasetOptions& options) {
  NoteLog log;
  std::vector<FeatureCsv> files;
  for (const char* name : kFolderFiles) {
    const std::string file = (std::filesystem::path(path) / name).string();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      log.Count(NoteKind::kFileNotInFolder, file, 0);
      continue;
    }
    auto source = TRY(ByteSource::Open(file));
    auto text = TRY(ReadText(source, log));
    files.push_back({file, std::move(text), KindOfFile(name)});
  }
  if (files.empty()) {
    return InvalidError(fmt::format(
        "{}: this folder has none of model_level_features.csv, module_level_features.csv, "
        "ml1_level_features.csv and ml2_level_features.csv; see "
        "docs/data-sets.md",
        path));
  }
  auto data = ReadFeatureCsvs(files, path, options, log);
  if (data && files.size() < kFolderFiles.size()) {
    for (ModelRun& run : data->runs) run.complete = false;
  }
  return data;
}

bool StartsLikeJson(std::string_view text) {
  const size_t start = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return start != std::string_view::npos && text[start] == '{';
}

}  // namespace

Result<Dataset> ReadDataset(const std::string& path, const DatasetOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return ReadFolder(path, options);
  auto source = TRY(ByteSource::Open(path));
  const auto first = TRY(source.Peek(4096));
  if (StartsLikeJson(first)) return ReadTrees(source, options);
  NoteLog log;
  auto text = TRY(ReadText(source, log));
  std::vector<FeatureCsv> files;
  files.push_back({path, std::move(text), KindOfFile(path)});
  return ReadFeatureCsvs(files, path, options, log);
}

}  // namespace beryl::datasets
