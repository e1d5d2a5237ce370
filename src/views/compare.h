// The forms of a comparison, and what they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "types/comparison.h"
#include "views/csv_table.h"
#include "views/views.h"

namespace beryl::views {

std::string WriteCompareTable(const Comparison& comparison, const ViewOptions& options);
std::string WriteCompareJson(const Comparison& comparison);
std::string WriteCompareCsv(const Comparison& comparison, ComparePart part);
std::string WriteComparePicture(const Comparison& comparison, ComparePart part,
                                const ViewOptions& options);
std::string DrawPrecision(const Precision& precision);

// Matrices as an object of nested arrays, and in long form, a line a pair.
void WriteSimilarity(JsonWriter& json, const char* key, const SimilarityMatrices& found);
std::string SimilarityCsv(const SimilarityMatrices& found, CsvTable csv);

// Whether a gate holds, by how much, and what grew; the first line says it all.
std::vector<std::string> GateLines(const Comparison& comparison, const GateVerdict& gate);
// "books close to 2e-16"
std::string ClosureWords(const AccountReport& report);
// The label that says that a run is not what it seems.
std::string WarningLabel(const std::vector<AccountReport>& runs);
// A line for each run: its letter, its label, and where its numbers came from.
std::vector<std::string> SourcesOf(const std::vector<AccountReport>& reports,
                                   const std::vector<std::string>& labels);

}  // namespace beryl::views
