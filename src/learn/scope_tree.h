// From rows that each know only their own scope ("encoder.layer.0.attention.self") to trees.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "learn/note_log.h"
#include "types/dataset.h"

namespace beryl::learn {

// What a row stands for. An occurrence is a primitive without parameters: its scope is that of the
// module it runs in, and several rows may be alike. A primitive whose scope is a module's is one
// too.
enum class RowKind : uint8_t { kModel, kModule, kPrimitive, kOccurrence };

// One node of one run, as it stands in a file. The views are into text that has to outlive this.
struct ScopedRow {
  std::string_view model;
  double batch_size = 0;
  double seq_len = 0;
  RowKind kind = RowKind::kPrimitive;
  std::string_view scope;  // of a model: any
  std::string_view type;
  FeatureRow features;
  double measured = kUnknown;
  uint32_t file = 0;  // in the list of names
  uint64_t line = 0;
};

// Which features a node of a data set has to have.
inline constexpr std::array<Feature, 7> kAlwaysNeeded = {
    Feature::kBatchSize, Feature::kSeqLen, Feature::kFlops,  Feature::kMemBytes,
    Feature::kCpu,       Feature::kMem,    Feature::kSeconds};
// All of these, or Feature::kCpuEnergy of a machine without GPU.
inline constexpr std::array<Feature, 5> kNeededOfGpu = {Feature::kGpu, Feature::kGpuMem,
                                                        Feature::kGpuClock, Feature::kGpuMemClock,
                                                        Feature::kGpuEnergy};

// No scope has more parts than this.
inline constexpr size_t kDeepestScope = 100;

// Names reach files and terminals: bytes that would not survive that are replaced.
std::string CleanName(std::string_view text);
// A type as the name of a node: "MatMul" as "matmul".
std::string NameOfType(std::string_view type);
// The first scope that a node's name speaks of and that is no list, so that it should have been its
// parent: "attn" of "attn.matmul", "encoder" of "encoder.layer.0"; of "layer.0" nothing.
std::string_view SkippedParent(std::string_view name);

// A run for each (model, batch size, sequence length), in the order of the model rows; those that
// have none follow. The parent of a scope is its longest prefix that has a module row. Rows of one
// parent stand in the order: primitives, modules, occurrences, each as in `rows`.
std::vector<ModelRun> BuildRuns(const std::vector<ScopedRow>& rows,
                                const std::vector<std::string>& file_names, NoteLog& log);

}  // namespace beryl::learn
