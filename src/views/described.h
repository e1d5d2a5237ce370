// What the views of a described model have in common: how its sizes read, and what is said of it.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "types/described_prediction.h"
#include "types/description.h"
#include "views/figures.h"
#include "views/tree_view.h"
#include "views/views.h"

namespace beryl::views {

// "batch 8, sequence 128, float32, eager attention"
std::string InputText(const Description& description);
// "22.4 GFLOP (99.5% in matrix products), 1.20 GB moved, 109,482,240 parameters"
std::string WorkText(const Description& description);

// "bert.json: BertModel, batch 8, ..."
std::string TitleOf(const Description& description);
// "model", "family", "batch", "seq", ... "gpus", "dtype", "attention"; null where it does not
// apply.
void WriteModel(JsonWriter& json, const Description& description);
// Of that, the sizes of what goes in.
void WriteSizes(JsonWriter& json, const ModelInput& input);
std::string SizesText(const ModelInput& input);  // "batch 8, sequence 128"

// The same as fields of a CSV line.
CsvFields InputFields(const Description& description);

// --- Of predictions.

// Prefill and decode of a generation; else none.
std::vector<NodeId> PhasesOf(const Description& description);
// What stands above numbers that were never held against a meter.
std::string UncalibratedText(const std::string& profile);

}  // namespace beryl::views
