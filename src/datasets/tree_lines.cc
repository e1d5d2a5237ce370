#include "datasets/tree_lines.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::datasets {
namespace {

constexpr size_t kLargestFile = size_t{1} << 30;

// Python writes NaN and Infinity, which are not valid JSON. They become null: unknown.
std::string WithoutNotANumber(std::string_view line) {
  const auto has = [&](const char* word) { return line.find(word) != std::string_view::npos; };
  if (!has("NaN") && !has("Infinity")) return std::string(line);
  std::string text;
  text.reserve(line.size());
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (in_string && line[i] == '\\' && i + 1 < line.size()) {
      text += line[i++];
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      const std::string_view rest = line.substr(i);
      const size_t length = rest.starts_with("NaN")         ? 3
                            : rest.starts_with("Infinity")  ? 8
                            : rest.starts_with("-Infinity") ? 9
                                                            : 0;
      if (length > 0) {
        text += "null";
        i += length - 1;
        continue;
      }
    }
    text += line[i];
  }
  return text;
}

class FileReader {
 public:
  FileReader(const ByteSource& source, const DatasetOptions& options)
      : file_(source.name()), options_(options) {
    data_.name = file_;
  }

  Result<Dataset> Read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    uint64_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      if (Trim(line).empty()) continue;
      TRY(ReadLine(line, number));
    }
    if (data_.runs.empty()) {
      return InvalidError(fmt::format(
          "{}: it has no trees; expected a JSON object on each line, see docs/data-sets.md",
          file_));
    }
    data_.notes = log_.Take();
    return std::move(data_);
  }
  NoteLog& log() { return log_; }

 private:
  // If the first line is wrong, this is a different kind of file. A later wrong line is damaged.
  Status ReadLine(std::string_view line, uint64_t number) {
    auto run =
        ReadTreeLine(WithoutNotANumber(line), {file_, number, kMostNodes - nodes_}, options_, log_);
    if (!run && data_.runs.empty()) return run.error();
    if (!run) {
      const std::string place = fmt::format("{}:{}: ", file_, number);
      log_.Count(NoteKind::kLineNotRead, file_, number,
                 std::string_view(run.error().message).substr(place.size()));
      return {};
    }
    nodes_ += run->tree.nodes.size();
    for (const std::string& id : run->ids) {
      if (!id.empty() && !ids_.insert(id).second) {
        log_.Count(NoteKind::kIdRepeated, file_, number, "id", id);
      }
    }
    data_.runs.push_back(std::move(*run));
    return {};
  }

  std::string file_;
  const DatasetOptions& options_;
  NoteLog log_;
  Dataset data_;
  std::unordered_set<std::string> ids_;
  size_t nodes_ = 0;
};

}  // namespace

Result<Dataset> ReadTrees(ByteSource& source, const DatasetOptions& options) {
  auto text = TRY(ReadAll(source, kLargestFile));
  FileReader reader(source, options);
  if (!source.damage().empty()) {
    reader.log().Count(NoteKind::kCompressedFileDamaged, source.name(), 0, source.damage());
  }
  return reader.Read(text);
}

}  // namespace beryl::datasets
