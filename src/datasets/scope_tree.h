// Builds trees from rows that know only their own scope ("encoder.layer.0.attention.self").
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/note_log.h"
#include "types/dataset.h"

namespace beryl::datasets {

// What a row describes. An occurrence is a primitive without parameters: its scope is that of the
// module it runs in, and several rows may have the same scope. A primitive whose scope is that of a
// module is an occurrence too.
enum class RowKind : uint8_t { kModel, kModule, kPrimitive, kOccurrence };

// One node of one run, as in a file. The views point into text that must outlive this object.
struct ScopedRow {
  std::string_view model;
  double batch_size = 0;
  double seq_len = 0;
  RowKind kind = RowKind::kPrimitive;
  std::string_view scope;  // a model's scope is ignored
  std::string_view type;
  FeatureRow features;
  double measured = kUnknown;
  uint32_t file = 0;  // index into the list of names
  uint64_t line = 0;
};

// The features that every node of a data set must have.
inline constexpr std::array<Feature, 7> kAlwaysNeeded = {
    Feature::kBatchSize, Feature::kSeqLen, Feature::kFlops,  Feature::kMemBytes,
    Feature::kCpu,       Feature::kMem,    Feature::kSeconds};
// Either all of these, or Feature::kCpuEnergy on a machine without GPU.
inline constexpr std::array<Feature, 5> kNeededOfGpu = {Feature::kGpu, Feature::kGpuMem,
                                                        Feature::kGpuClock, Feature::kGpuMemClock,
                                                        Feature::kGpuEnergy};

// The largest number of parts in a scope.
inline constexpr size_t kDeepestScope = 100;

// Replaces bytes that cannot be written to files and terminals.
std::string CleanName(std::string_view text);
// The first scope in a node's name that is not a list and so should have been its parent: "attn"
// for "attn.matmul", "encoder" for "encoder.layer.0", nothing for "layer.0".
std::string_view SkippedParent(std::string_view name);

// One run for each (model, batch size, sequence length), in the order of the model rows; runs
// without a model row follow. The parent of a scope is its longest prefix with a module row.
// Children are ordered by kind (primitives, modules, occurrences), then as in `rows`.
std::vector<ModelRun> BuildRuns(const std::vector<ScopedRow>& rows,
                                const std::vector<std::string>& file_names, NoteLog& log);

}  // namespace beryl::datasets
