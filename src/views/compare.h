// The formats of a comparison, and their shared parts.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "types/comparison.h"
#include "views/text/csv_table.h"
#include "views/views.h"

namespace beryl::views {

std::string WriteCompareTable(const Comparison& comparison, const ViewOptions& options);
std::string WriteCompareJson(const Comparison& comparison);
std::string WriteCompareCsv(const Comparison& comparison, ComparePart part);
std::string WriteComparePicture(const Comparison& comparison, ComparePart part,
                                const ViewOptions& options);

// Matrices as an object of nested arrays, and in long form with one line per pair.
void WriteSimilarity(JsonWriter& json, const char* key, const SimilarityMatrices& found);
std::string SimilarityCsv(const SimilarityMatrices& found, CsvTable csv);

// "38.2%", "383 times": the size of a change; and with its sign.
std::string ShareText(double share);
std::string SignedShare(double share);
// "energy per step, mean over the steps of each run"
std::string BasisWords(const Comparison& comparison);
// "after: 2.1% less than before, 95 % between 0.4% and 3.9% less; certain"
std::string VerdictLine(const TotalVerdict& verdict);
// "from how 6 and 6 runs vary"
std::string HowItIsKnown(const Comparison& comparison, const TotalVerdict& verdict);
// Whether a gate holds, by how much, and what grew. The first line is the verdict.
std::vector<std::string> GateLines(const Comparison& comparison, const GateVerdict& gate);
// "closure error 2e-16"
std::string ClosureWords(const AccountReport& report);
// The label of runs that are not ordinary measurements.
std::string WarningLabel(const std::vector<AccountReport>& runs);
// One line for each run: its letter, its label, and the sources of its numbers.
std::vector<std::string> SourcesOf(const std::vector<AccountReport>& reports,
                                   const std::vector<std::string>& labels);

}  // namespace beryl::views
