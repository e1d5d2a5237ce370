// Dataset: runs of models on one machine, with what is known of every node before its energy is
// asked for (features), and, where it was measured, that energy.
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

// What a node is described by: the features of IrEne's Table 1, the two that its released code adds
// (parameters, and batch size times sequence length), and the energy of a CPU's own counter.
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
  std::string_view column;  // its name in files
  std::string_view unit;
  bool resource = false;  // seen in a run; else told by the model's description
};
const FeatureLook& LookOf(Feature feature);
std::optional<Feature> FindFeature(std::string_view column);
bool Has(const std::vector<Feature>& features, Feature feature);

// By Feature. NaN: not known.
using FeatureRow = std::array<double, kFeatureCount>;
FeatureRow UnknownFeatures();
inline double At(const FeatureRow& row, Feature feature) {
  return row[static_cast<size_t>(feature)];
}

// The levels of a model that data has.
inline constexpr std::array<Level, 3> kDataLevels = {Level::kMl, Level::kModule, Level::kModel};

// One model at one input size. Nodes are named so that joining the names of a path with "." gives
// the scope ("encoder", "layer.0", "attention", "self", "query"): lists of modules have no node.
struct ModelRun {
  std::string model;
  double batch_size = 0;  // 0: not known
  double seq_len = 0;     // 0: not known
  ModelTree tree;
  std::vector<FeatureRow> features;  // by node
  std::vector<double> measured;      // joules by node, with everything below it; NaN: not measured
  // Whether every node was there: the root, and each parent that the scopes speak of.
  bool complete = true;
  // Of trees read from JSON lines, by node, to be written back; else empty. `extra` are the members
  // that mean nothing here, as text (",\"a\":1").
  std::vector<std::string> ids;
  std::vector<std::string> extra;
  std::vector<uint64_t> lines;  // by node, in the file it came from; 0: none
  // The model at this input size by its configuration alone; nothing: nobody knows that, or nobody
  // asked.
  std::shared_ptr<const Description> description;
};

struct Dataset {
  std::string name;            // as given: a folder or a file
  std::vector<ModelRun> runs;  // in the order of the data
  std::vector<Note> notes;     // rows left out, parents missing; each with its first file and line
};

// In the order in which they first occur.
std::vector<std::string> ModelsOf(const Dataset& data);
// The features that most nodes of the data have; the few that lack one are not learned from.
std::vector<Feature> KnownFeatures(const Dataset& data);
// "8x32"; "-" where batch size or length are not known.
std::string InputText(const ModelRun& run);

}  // namespace beryl
