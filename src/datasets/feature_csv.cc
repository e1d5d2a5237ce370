#include "datasets/feature_csv.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "datasets/feature_columns.h"

namespace beryl::datasets {
namespace {

// Larger numbers are a wrong unit or a typing error, and their squares may not be finite.
constexpr double kLargestValue = 1e18;
constexpr double kLeastJoules = 1e-15;

constexpr size_t kLongestScope = 4096;

bool LooksNotFinite(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.size() < 3) return false;
  const char start[3] = {static_cast<char>(text[0] | 0x20), static_cast<char>(text[1] | 0x20),
                         static_cast<char>(text[2] | 0x20)};
  return std::memcmp(start, "nan", 3) == 0 || std::memcmp(start, "inf", 3) == 0;
}

std::optional<RowKind> KindOfLevel(std::string_view level) {
  if (level == "model") return RowKind::kModel;
  if (level == "module") return RowKind::kModule;
  if (level == "ml" || level == "ml1") return RowKind::kPrimitive;
  if (level == "ml-np" || level == "ml2") return RowKind::kOccurrence;
  return std::nullopt;
}

bool HasEmptyPart(std::string_view scope) {
  return scope.empty() || scope.front() == '.' || scope.back() == '.' ||
         scope.find("..") != std::string_view::npos;
}

class RowReader {
 public:
  RowReader(const FeatureCsv& csv, uint32_t file, const FeatureColumns& columns,
            const DatasetOptions& options, NoteLog& log)
      : csv_(csv), file_(file), columns_(columns), options_(options), log_(log) {}

  // Returns nothing if the row cannot be used; the log says why.
  std::optional<ScopedRow> Read(const CsvFields& fields, uint64_t line) {
    line_ = line;
    ScopedRow row;
    row.file = file_;
    row.line = line;
    if (!ReadPlace(fields, row) || !ReadFeatures(fields, row) || !ReadEnergy(fields, row)) {
      return std::nullopt;
    }
    return row;
  }

 private:
  bool Drop(NoteKind kind, std::string_view what = {}, std::string_view value = {}) {
    log_.Count(kind, csv_.name, line_, what, value);
    return false;
  }

  bool ReadPlace(const CsvFields& fields, ScopedRow& row) {
    row.model = fields[columns_.model];
    if (row.model.empty()) return Drop(NoteKind::kRowWithoutModel);
    row.kind = csv_.kind;
    if (columns_.level != kNoCsvColumn) {
      const auto kind = KindOfLevel(fields[columns_.level]);
      if (!kind) {
        return Drop(NoteKind::kLevelNotKnown, "level", fields[columns_.level]);
      }
      row.kind = *kind;
    }
    const std::string_view name = fields[columns_.level_name];
    const size_t colon = name.rfind(':');
    row.scope = name.substr(0, colon);
    if (colon != std::string_view::npos) row.type = name.substr(colon + 1);
    if (row.kind == RowKind::kModel) return true;
    if (HasEmptyPart(row.scope)) {
      return Drop(NoteKind::kScopeEmpty, "level_name", name);
    }
    if (row.scope.size() > kLongestScope ||
        static_cast<size_t>(std::count(row.scope.begin(), row.scope.end(), '.')) >= kDeepestScope) {
      return Drop(NoteKind::kScopeTooDeep, "level_name", name);
    }
    if (row.type.empty()) {
      return Drop(NoteKind::kLevelNameWithoutType, "level_name", name);
    }
    return true;
  }

  bool ReadFeatures(const CsvFields& fields, ScopedRow& row) {
    row.features = UnknownFeatures();
    for (size_t i = 0; i < kFeatureCount; ++i) {
      if (columns_.features[i] == kNoCsvColumn) continue;
      const std::string_view text = fields[columns_.features[i]];
      if (text.empty() && !columns_.needed[i]) continue;
      const auto feature = static_cast<Feature>(i);
      const auto value = Number(LookOf(feature).column, text);
      if (!value) return false;
      if (feature == Feature::kSeconds && *value <= 0) {
        return Drop(NoteKind::kTimeNotPositive, LookOf(feature).column, text);
      }
      if (*value == 0 && (feature == Feature::kBatchSize || feature == Feature::kSeqLen)) {
        return Drop(NoteKind::kInputOfSizeZero, LookOf(feature).column, text);
      }
      if (*value < 0) {
        return Drop(NoteKind::kFeatureNegative, LookOf(feature).column, text);
      }
      row.features[i] = *value + 0.0;  // -0 is 0
    }
    row.batch_size = At(row.features, Feature::kBatchSize);
    row.seq_len = At(row.features, Feature::kSeqLen);
    const double input_size = row.batch_size * row.seq_len;
    if (!std::isfinite(input_size)) {
      return Drop(NoteKind::kInputTooLarge, "batch_size",
                  fields[columns_.features[static_cast<size_t>(Feature::kBatchSize)]]);
    }
    row.features[static_cast<size_t>(Feature::kInputSize)] = input_size;
    return true;
  }

  bool ReadEnergy(const CsvFields& fields, ScopedRow& row) {
    if (columns_.energy == kNoCsvColumn) return true;
    const std::string_view text = fields[columns_.energy];
    if (!options_.needs_energy) {
      // Prediction does not need energy: an unusable value is treated as unknown.
      const auto value = ParseNumber(text);
      if (value && *value > 0) row.measured = *value;
      return true;
    }
    const auto value = Number("energy_mean", text);
    if (!value) return false;
    if (*value < kLeastJoules) {
      return Drop(NoteKind::kEnergyNotPositive, "energy_mean", text);
    }
    row.measured = *value;
    return true;
  }

  std::optional<double> Number(std::string_view column, std::string_view text) {
    const auto value = ParseNumber(text);
    if (value && std::abs(*value) > kLargestValue) {
      Drop(NoteKind::kNumberTooLarge, column, text);
      return std::nullopt;
    }
    if (value) return value;
    if (text.empty()) {
      Drop(NoteKind::kFieldWithoutNumber, column);
    } else if (LooksNotFinite(text)) {
      Drop(NoteKind::kNumberNotFinite, column, text);
    } else {
      Drop(NoteKind::kTextForNumber, column, text);
    }
    return std::nullopt;
  }

  const FeatureCsv& csv_;
  uint32_t file_;
  const FeatureColumns& columns_;
  const DatasetOptions& options_;
  NoteLog& log_;
  uint64_t line_ = 0;
};

// Appends the usable rows of one file, as views into its text. `file` is the file's number in these
// rows.
Status ReadFeatureRows(FeatureCsv& csv, uint32_t file, const DatasetOptions& options, NoteLog& log,
                       std::vector<ScopedRow>& rows) {
  CsvReader lines(csv.text, CsvComments::kNone);
  CsvFields fields;
  if (!lines.Next(fields)) {
    return InvalidError(fmt::format(
        "{}: the file is empty; expected a header with model_name, level_name, ...", csv.name));
  }
  const auto columns =
      TRY(FindFeatureColumns(fields, fmt::format("{}:{}", csv.name, lines.line()), options));
  RowReader reader(csv, file, columns, options, log);
  while (lines.Next(fields)) {
    if (!lines.well_formed()) {
      log.Count(NoteKind::kRowQuoteNotClosed, csv.name, lines.line());
    } else if (fields.size() != columns.count) {
      log.Count(fields.size() < columns.count ? NoteKind::kTooFewFields : NoteKind::kTooManyFields,
                csv.name, lines.line(), fmt::format("{} of {}", fields.size(), columns.count));
    } else if (auto row = reader.Read(fields, lines.line())) {
      rows.push_back(*row);
    }
  }
  return {};
}

}  // namespace

RowKind KindOfFile(std::string_view file_name) {
  const std::string_view base = file_name.substr(file_name.rfind('/') + 1);
  auto contains = [&](std::string_view part) { return base.find(part) != std::string_view::npos; };
  if (contains("ml2")) return RowKind::kOccurrence;
  if (contains("ml1")) return RowKind::kPrimitive;
  if (contains("module")) return RowKind::kModule;
  if (contains("model")) return RowKind::kModel;
  return RowKind::kPrimitive;
}

Result<Dataset> ReadFeatureCsvs(std::vector<FeatureCsv>& files, std::string name,
                                const DatasetOptions& options, NoteLog& log) {
  std::vector<ScopedRow> rows;
  std::vector<std::string> names;
  for (FeatureCsv& csv : files) {
    TRY(ReadFeatureRows(csv, static_cast<uint32_t>(names.size()), options, log, rows));
    names.push_back(csv.name);
  }
  Dataset data;
  data.name = std::move(name);
  data.runs = BuildRuns(rows, names, log);
  if (data.runs.empty()) {
    const std::string first = log.First();
    return InvalidError(fmt::format("{}: no usable row{}{}; see docs/data-sets.md", data.name,
                                    first.empty() ? "" : "; ", first));
  }
  data.notes = log.Take();
  return data;
}

}  // namespace beryl::datasets
