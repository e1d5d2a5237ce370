// Shared by the views of described models: sizes and common texts.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "types/described_prediction.h"
#include "types/description.h"
#include "views/text/figures.h"
#include "views/text/tree_view.h"
#include "views/views.h"

namespace beryl::views {

// "forward pass, batch 8, sequence 128, float32, eager attention"
std::string InputText(const Description& description);
// "22.4 GFLOP (99.5% in matrix products), 1.20 GB moved, 109,482,240 parameters"
std::string WorkText(const Description& description);

// "memory at most 1.8 GB: weights 438 MB, activations 1.3 GB"
std::string MemoryText(const MemoryNeed& memory);

// "bert.json: BertModel, forward pass, batch 8, ..."
std::string TitleOf(const Description& description);
// "model", "family", "batch", "seq", ... "gpus", "dtype", "attention", "training", "memory"; null
// if not applicable.
void WriteModel(JsonWriter& json, const Description& description);
// Only the sizes of the input.
void WriteSizes(JsonWriter& json, const ModelInput& input);
std::string SizesText(const ModelInput& input);  // "batch 8, sequence 128"

// The same as fields of a CSV line.
NamedFields InputFields(const Description& description);

// --- Predictions.

// Prefill and decode of a generation, forward, backward and optimizer of training; otherwise empty.
std::vector<NodeId> PhasesOf(const Description& description);
// The warning above numbers that were never compared with a meter.
std::string UncalibratedText(const std::vector<std::string>& profiles, bool training);

}  // namespace beryl::views
