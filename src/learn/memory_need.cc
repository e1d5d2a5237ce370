#include "learn/memory_need.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "types/unknown.h"

namespace beryl::learn {
namespace {

constexpr double kGiga = 1e9;
constexpr int64_t kMostGpus = 1024;

double ActivationWidth(Dtype dtype) { return dtype == Dtype::kFloat32 ? 4 : 2; }

double WeightWidth(Dtype dtype) {
  if (dtype == Dtype::kInt8) return 1;
  if (dtype == Dtype::kInt4) return 0.5;
  return ActivationWidth(dtype);
}

const Shape* ShapeAt(const Description& description, uint32_t at) {
  return at < description.shapes.size() ? &description.shapes[at] : nullptr;
}

// Parameters of matrix products, which are the narrow ones. Of a generation, its first phase has
// them all.
double MatmulParameters(const Description& description, RunPhase phase) {
  double parameters = 0;
  for (size_t i = 0; i < description.nodes.size(); ++i) {
    if (description.nodes[i].phase != phase) continue;
    if (description.nodes[i].kind != MathKind::kMatmul) continue;
    parameters +=
        static_cast<double>(description.nodes[description.tree.nodes[i].parent].parameters);
  }
  return parameters;
}

bool IsKeyOrValue(std::string_view scope) {
  const std::string_view name = scope.substr(scope.rfind('.') + 1);
  return name == "k_proj" || name == "v_proj";
}

// What comes out of the projections of keys and values is what is kept of a token.
double CacheByProjections(const Description& description, RunPhase phase, double tokens) {
  double width = 0;
  for (size_t i = 0; i < description.nodes.size(); ++i) {
    const DescribedNode& node = description.nodes[i];
    if (node.phase != phase || description.tree.nodes[i].level != Level::kMl) continue;
    if (!IsKeyOrValue(node.scope) || node.output_count == 0) continue;
    const Shape* output = ShapeAt(description, node.first_shape + node.input_count);
    if (output == nullptr || output->rank == 0) continue;
    width += output->Last();
  }
  return width * tokens;
}

// Where they have no names: what attention reads of all tokens before, by the last of them.
double CacheByAttention(const Description& description, RunPhase phase) {
  double elements = 0;
  for (const DescribedNode& node : description.nodes) {
    if (node.phase != phase || !node.kind) continue;
    const uint8_t last = *node.kind == MathKind::kBatchedMatmul ? 1
                         : *node.kind == MathKind::kAttention   ? 2
                                                                : 0;
    for (uint8_t i = 1; i <= last && i < node.input_count; ++i) {
      if (const Shape* shape = ShapeAt(description, node.first_shape + i)) {
        elements += shape->Elements();
      }
    }
  }
  return elements;
}

}  // namespace

MemoryNeed MemoryNeedOf(const Description& description) {
  MemoryNeed need;
  if (description.nodes.empty()) return need;
  const ModelInput& input = description.input;
  const bool generation = description.nodes[0].phase == RunPhase::kAll;
  const RunPhase first = generation ? RunPhase::kPrefill : description.nodes[0].phase;
  const double wide = ActivationWidth(description.dtype);
  const double saved = wide - WeightWidth(description.dtype);
  const auto parameters = static_cast<double>(description.nodes[0].parameters);
  need.weights =
      parameters * wide - std::min(parameters, MatmulParameters(description, first)) * saved;
  if (!generation && input.context == 0) return need;
  const RunPhase last = generation && input.generate > 0 ? RunPhase::kDecode : first;
  const double tokens =
      static_cast<double>(input.batch) *
      static_cast<double>(input.context + input.seq + input.prompt + input.generate);
  const double kept = CacheByProjections(description, last, tokens);
  need.cache = (kept > 0 ? kept : CacheByAttention(description, last)) * wide;
  return need;
}

void NoteMemory(const Datasheet& sheet, const Description& description, std::vector<Note>& notes) {
  if (std::isnan(sheet.memory)) return;
  const MemoryNeed need = MemoryNeedOf(description);
  const int64_t gpus = std::max<int64_t>(1, description.input.gpus);
  const auto fits = [&](int64_t on) {
    return need.Total() <= sheet.memory * static_cast<double>(on);
  };
  int64_t enough = gpus;
  while (enough < kMostGpus && !fits(enough)) enough *= 2;
  const double cache = need.cache > 0 ? need.cache / kGiga : kUnknown;
  const double memory = sheet.memory * static_cast<double>(gpus) / kGiga;
  Note& note =
      notes.emplace_back(fits(gpus) ? NoteKind::kFits : NoteKind::kDoesNotFit, "",
                         std::vector<NoteValue>{need.weights / kGiga, cache, memory,
                                                sheet.gpu ? NoteValue(gpus) : NoteValue()});
  if (!fits(gpus) && sheet.gpu && fits(enough)) note.values.emplace_back(enough);
}

}  // namespace beryl::learn
