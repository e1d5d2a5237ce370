// Dataset: runs of models on one machine. Every node has features, which are known before its
// energy, and its energy where that was measured.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/description.h"
#include "types/model_tree.h"
#include "types/note.h"
#include "types/unknown.h"

namespace beryl {

// Features of a node: those of IrEne's Table 1, the two that its released code adds (parameters,
// and batch size times sequence length), and the energy of a CPU's own counter.
enum class Feature : uint8_t {
  kParameters,
  kInputSize,
  kBatchSize,
  kSeqLen,
  kFlops,
  kMemBytes,
  kCpu,
  kMem,
  kGpu,
  kGpuMem,
  kGpuClock,
  kGpuMemClock,
  kSeconds,
  kGpuEnergy,
  kCpuEnergy,
};
inline constexpr size_t kFeatureCount = 15;

struct FeatureLook {
  std::string_view column;  // name in files
  std::string_view unit;
  bool resource = false;  // observed in a run; otherwise taken from the model's description
};
const FeatureLook& LookOf(Feature feature);
std::optional<Feature> FindFeature(std::string_view column);
bool Has(const std::vector<Feature>& features, Feature feature);

// By Feature. NaN: unknown.
using FeatureRow = std::array<double, kFeatureCount>;
FeatureRow UnknownFeatures();
inline double At(const FeatureRow& row, Feature feature) {
  return row[static_cast<size_t>(feature)];
}

// The levels that data has.
inline constexpr std::array<Level, 3> kDataLevels = {Level::kMl, Level::kModule, Level::kModel};

// A batch size or length in data; nothing unless it is above 0.
inline std::optional<double> KnownSize(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

// One model at one input size. Nodes are named so that joining the names of a path with "." gives
// the scope ("encoder", "layer.0", "attention", "self", "query"): lists of modules have no node.
struct ModelRun {
  std::string model;
  std::string lineage = {};  // the models it descends from, "BERT"; empty: unknown or not requested
  std::optional<double> batch_size = {};
  std::optional<double> seq_len = {};
  ModelTree tree;
  std::vector<FeatureRow> features;  // by node
  std::vector<double> measured;      // joules by node, with everything below it; NaN: not measured
  // Whether no node is missing: neither the root nor any parent named in the scopes.
  bool complete = true;
  // For trees read from JSON lines, by node, to be written back; otherwise empty. `extra` holds
  // unknown members as text (",\"a\":1").
  std::vector<std::string> ids;
  std::vector<std::string> extra;
  std::vector<uint64_t> lines;  // by node, in the file it came from; 0: none
  // The model at this input size, from its configuration alone; nothing if unknown or not
  // requested.
  std::shared_ptr<const Description> description;
};

struct Dataset {
  std::string name;            // as given: a folder or a file
  std::vector<ModelRun> runs;  // in the order of the data
  std::vector<Note> notes;     // rows left out, parents missing; each with its first file and line
};

// In the order in which they first occur.
std::vector<std::string> ModelsOf(const Dataset& data);
// The features that most nodes have; nodes that lack one are not learned from.
std::vector<Feature> KnownFeatures(const Dataset& data);
// "8x32"; "-" if batch size or length is unknown.
std::string InputText(const ModelRun& run);

// A type as a node name: "MatMul" becomes "matmul".
std::string NameOfType(std::string_view type);

}  // namespace beryl
