// The formats of results, by name, and the formats that each result has.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace beryl {
struct AccountReport;
struct Comparison;
struct ElectricityTable;
struct EnergyDiagram;
struct Evaluation;
struct JobList;
struct Measurement;
struct OperationRanking;
struct Precision;
struct PredictionReport;
struct Timeline;
struct Tradeoff;
}  // namespace beryl

namespace beryl::views {

// Their names for --format. datasets writes jsonl (trees with predictions), learn writes model
// files. folded to xprof are those of other tools (views/export.cc). summary is a table's header,
// balances and notes; --format does not offer it.
#define BERYL_FORMATS(FORMAT)                       \
  FORMAT(kTable, "table")                           \
  FORMAT(kJson, "json")                             \
  FORMAT(kCsv, "csv")                               \
  FORMAT(kHtml, "html")                             \
  FORMAT(kSvg, "svg")                               \
  FORMAT(kJsonl, "jsonl")                           \
  FORMAT(kFolded, "folded")                         \
  FORMAT(kSpeedscope, "speedscope")                 \
  FORMAT(kChrome, "chrome")                         \
  FORMAT(kPprof, "pprof")                           \
  FORMAT(kModelExplorer, "model-explorer")          \
  FORMAT(kModelExplorerData, "model-explorer-data") \
  FORMAT(kPerfetto, "perfetto")                     \
  FORMAT(kPerfettoBundle, "perfetto-bundle")        \
  FORMAT(kTfevents, "tfevents")                     \
  FORMAT(kFirefox, "firefox")                       \
  FORMAT(kXprof, "xprof")                           \
  FORMAT(kModelFile, "model-file")                  \
  FORMAT(kSummary, "summary")

#define BERYL_FORMAT_ID(id, name) id,
enum class Format { BERYL_FORMATS(BERYL_FORMAT_ID) };
#undef BERYL_FORMAT_ID

class Formats {
 public:
  constexpr Formats(std::initializer_list<Format> formats) {
    for (const Format format : formats) bits_ |= BitOf(format);
  }
  constexpr bool Has(Format format) const { return (bits_ & BitOf(format)) != 0; }
  // With their names, in the order of the enum.
  std::vector<std::pair<std::string, Format>> Named() const;

 private:
  static constexpr uint32_t BitOf(Format format) { return 1U << static_cast<uint32_t>(format); }
  uint32_t bits_ = 0;
};

// The formats that a result has; those that are not named here have a table, JSON and CSV.
template <typename Result>
inline constexpr Formats kFormats = {Format::kTable, Format::kJson, Format::kCsv};
template <>
inline constexpr Formats kFormats<AccountReport> = {Format::kTable, Format::kJson, Format::kCsv,
                                                    Format::kHtml};
template <>
inline constexpr Formats kFormats<PredictionReport> = {Format::kTable, Format::kJson, Format::kCsv,
                                                       Format::kJsonl};
template <typename Result, typename... Results>
concept IsOneOf = (std::same_as<Result, Results> || ...);
template <IsOneOf<OperationRanking, std::vector<EnergyDiagram>, Timeline, Measurement, Comparison,
                  Precision, Evaluation, Tradeoff>
              Result>
inline constexpr Formats kFormats<Result> = {Format::kTable, Format::kJson, Format::kCsv,
                                             Format::kSvg};
template <IsOneOf<ElectricityTable, JobList> Result>
inline constexpr Formats kFormats<Result> = {Format::kJson, Format::kCsv};

inline constexpr Formats kExportFormats = {
    Format::kFolded,        Format::kSpeedscope,        Format::kChrome,   Format::kPprof,
    Format::kModelExplorer, Format::kModelExplorerData, Format::kPerfetto, Format::kPerfettoBundle,
    Format::kTfevents,      Format::kFirefox,           Format::kXprof};

std::string_view FormatName(Format format);
// Whether a result in this format contains its notes.
bool HasNotes(Format format);
// It is a misuse error if the result `what` does not have the format; the message lists those it
// has.
Status CheckFormat(Formats has, Format format, std::string_view what);

}  // namespace beryl::views
