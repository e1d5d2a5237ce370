// One way out: a result in, bytes out. Views compute nothing that is not in the result, but sums of
// what they leave out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/account_report.h"
#include "types/analysis.h"
#include "types/comparison.h"
#include "types/described_prediction.h"
#include "types/energy_use.h"
#include "types/evaluation.h"
#include "types/live_power.h"
#include "types/measurement.h"
#include "types/model_list.h"
#include "types/precision.h"
#include "types/prediction.h"
#include "types/side_by_side.h"
#include "types/source_report.h"

namespace beryl::views {

enum class Format {
  kTable,
  kJson,
  kCsv,
  kHtml,
  kSvg,
  kSummary,  // of a table, what is said about the result: clock, books, notes
};

struct ViewOptions {
  std::optional<int> depth;          // levels of the tree below its root
  std::optional<Level> level;        // the deepest level of the tree
  std::vector<std::string> columns;  // of the tree, by name; empty: those that suit the format
  std::optional<int> top;  // operations to list; in JSON and CSV everything unless this is given
  int width = 100;         // columns of the terminal
  bool color = false;      // the output is a terminal that shows colours
};

// Fails as misuse where a column was asked for that the tree does not have.
Result<bool> CheckColumns(const TreeColumns& tree, const ViewOptions& options);
// Fails as misuse where labels make two things that are written of a node have one name.
Result<bool> CheckLabels(const TreeColumns& tree);

std::string Write(const AccountReport& report, Format format, const ViewOptions& options);
// Analyses go out with the books of the run they were made from.
std::string Write(const AccountReport& report, const OperationRanking& ranking, Format format,
                  const ViewOptions& options);
std::string Write(const AccountReport& report, const std::vector<EnergyDiagram>& diagrams,
                  Format format, const ViewOptions& options);
// The lines of its budget that a run did not keep, for stderr; empty: all are kept.
std::string WriteBudgetFailures(const AccountReport& report);

// Which part of a comparison a picture or a CSV shows.
enum class ComparePart {
  kMatrices,
  kTotals,
  kDifferences,
};
std::string Write(const Comparison& comparison, Format format, ComparePart part,
                  const ViewOptions& options);
// Whether the gates hold, in lines for a terminal.
std::string WriteGates(const Comparison& comparison, const ViewOptions& options);
std::string Write(const SideBySide& set, Format format, const ViewOptions& options);
std::string Write(const Precision& precision, Format format, const ViewOptions& options);

std::string Write(const AccountReport& report, const Timeline& timeline, Format format,
                  const ViewOptions& options);

// What a recording comes to. kSummary: in a line, and what a reader has to know, for stderr.
std::string Write(const Measurement& measured, Format format, const ViewOptions& options);

// Prediction. The table of one run shows its tree; that of several a line for each.
std::string Write(const PredictionReport& report, Format format, const ViewOptions& options);
// Of a model that was never run, and of variants of one, a line each.
std::string Write(const DescribedPrediction& prediction, Format format, const ViewOptions& options);
std::string Write(const Sweep& sweep, Format format, const ViewOptions& options);
// Without energy: what a model is made of and what running it takes.
std::string Write(const Description& description, const ShownTree& tree, Format format,
                  const ViewOptions& options);
std::string Write(const ModelList& models, Format format, const ViewOptions& options);
std::string Write(const Evaluation& evaluation, Format format, const ViewOptions& options);
std::string Write(const Ablation& ablation, Format format, const ViewOptions& options);
std::string Write(const Calibration& calibration, Format format, const ViewOptions& options);
// What was learned, in a few lines for a terminal.
std::string WriteSummary(const EnergyModel& model, const ViewOptions& options);

// The meters of a machine.
std::string Write(const SourceReport& report, Format format, const ViewOptions& options);

// What a reader has to know, a line each: "note: ...", "assumed: ...".
std::string WriteNotes(const std::vector<Note>& notes);

// Analyses of data sets. A picture there is only of a trade-off.
std::string Write(const Breakdowns& breakdowns, Format format, const ViewOptions& options);
std::string Write(const QueryCosts& costs, Format format, const ViewOptions& options);
std::string Write(const Tradeoff& tradeoff, Format format, const ViewOptions& options);
// What a CSV or a picture of it leaves unsaid, in lines for stderr.
std::string WriteVerdicts(const Tradeoff& tradeoff);

// Formats of tools that show profiles. `self_s`: seconds at work of each node of the report's tree.
// With a timeline in the report, kChrome has the power over time too.
enum class ProfileFormat { kFolded, kSpeedscope, kChrome, kPprof };
std::string Write(const AccountReport& report, const std::vector<double>& self_s,
                  ProfileFormat format);

// The power of a machine just now, for monitoring systems: Prometheus' text, and what OTLP/HTTP
// takes as JSON.
std::string WritePrometheus(const LivePower& power);
std::string WriteOtlp(const LivePower& power);

}  // namespace beryl::views
