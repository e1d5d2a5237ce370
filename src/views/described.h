// What the views of a described model have in common: how its sizes read, and what is said of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "types/described_prediction.h"
#include "types/description.h"
#include "views/folded_description.h"
#include "views/views.h"

namespace beryl::views {

// Three digits that count: "22.4 G"; with a unit "22.4 GB". "-": not known.
std::string Amount(double value, const char* unit = "");
// A whole number as such, exact to 2^53; else as doubles are written. Empty: not known.
std::string WholeOrFigure(double value);
// The same as a member; null: not known.
void WriteWhole(JsonWriter& json, std::string_view key, double value);

// "batch 8, sequence 128, float32, eager attention"
std::string InputText(const Description& description);
// "22.4 GFLOP (99.5% in matrix products), 1.20 GB moved, 109,482,240 parameters"
std::string WorkText(const Description& description);

// "batch", "seq", ... "gpus", "dtype", "attention", "head"; null where it does not apply.
void WriteInput(JsonWriter& json, const Description& description);
// An array of sentences.
void WriteSentences(JsonWriter& json, std::string_view key,
                    const std::vector<std::string>& sentences);

// What a line of a table is called, indented; with its type, if `width` allows.
std::string LineName(const Description& description, const FoldedNode& line, size_t width);
// "16 of 40 lines are shown ...": what a table leaves out, and how to see it.
std::string LeftOutText(const Description& description, const std::vector<FoldedNode>& all,
                        const std::vector<FoldedNode>& shown);

// --- Of predictions.

// NaN where the column ends before.
double ValueAt(const std::vector<double>& column, NodeId node);
bool IsBeyond(const DescribedPrediction& prediction, NodeId node);
// Prefill and decode of a generation; else none.
std::vector<NodeId> PhasesOf(const Description& description);
// What stands above numbers that were never held against a meter.
std::string UncalibratedText(const std::string& profile);

std::string WriteTable(const DescribedPrediction& prediction, const ViewOptions& options);

}  // namespace beryl::views
