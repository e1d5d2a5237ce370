// The door to data sets: what a path is decides who reads it.
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/feature_csv.h"
#include "learn/learn.h"

namespace beryl::learn {
namespace {

constexpr size_t kLargestCsv = size_t{1} << 30;
// The model rows first: they say in which order runs stand.
constexpr std::array<const char*, 4> kFolderFiles = {
    "model_level_features.csv", "module_level_features.csv", "ml1_level_features.csv",
    "ml2_level_features.csv"};

Result<std::string> ReadText(ByteSource& source, NoteLog& log) {
  auto text = ReadAll(source, kLargestCsv);
  if (!text) return text.error();
  if (!source.damage().empty()) {
    log.Count(NoteKind::kCompressedFileDamaged, source.name(), 0, source.damage());
  }
  return text;
}

// Without one of the files, no tree is whole.
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
    auto source = ByteSource::Open(file);
    if (!source) return source.error();
    auto text = ReadText(*source, log);
    if (!text) return text.error();
    files.push_back({file, std::move(*text), KindOfFile(name)});
  }
  if (files.empty()) {
    return InvalidError(
        fmt::format("{}: none of model_level_features.csv, module_level_features.csv, "
                    "ml1_level_features.csv and ml2_level_features.csv is in this folder; see "
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
  auto source = ByteSource::Open(path);
  if (!source) return source.error();
  const auto first = source->Peek(4096);
  if (!first) return first.error();
  if (StartsLikeJson(*first)) return ReadTrees(*source, options);
  NoteLog log;
  auto text = ReadText(*source, log);
  if (!text) return text.error();
  std::vector<FeatureCsv> files;
  files.push_back({path, std::move(*text), KindOfFile(path)});
  return ReadFeatureCsvs(files, path, options, log);
}

}  // namespace beryl::learn
