#include "types/description.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace beryl {
namespace {

constexpr std::array<std::string_view, 5> kDtypes = {"float32", "float16", "bfloat16", "int8",
                                                     "int4"};
constexpr std::array<std::string_view, 3> kAttentions = {"eager", "sdpa", "flash"};
constexpr std::array<std::string_view, 4> kOptimizers = {"sgd", "adam", "adamw", "adafactor"};

template <typename Enum, size_t kSize>
std::optional<Enum> Parse(const std::array<std::string_view, kSize>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view DtypeName(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }
std::optional<Dtype> ParseDtype(std::string_view name) { return Parse<Dtype>(kDtypes, name); }

double ActivationWidth(Dtype dtype) { return dtype == Dtype::kFloat32 ? 4 : 2; }

double WeightWidth(Dtype dtype) {
  if (dtype == Dtype::kInt8) return 1;
  if (dtype == Dtype::kInt4) return 0.5;
  return ActivationWidth(dtype);
}

std::string_view AttentionName(AttentionKind attention) {
  return kAttentions[static_cast<size_t>(attention)];
}
std::optional<AttentionKind> ParseAttention(std::string_view name) {
  return Parse<AttentionKind>(kAttentions, name);
}

std::string_view OptimizerName(OptimizerKind optimizer) {
  return kOptimizers[static_cast<size_t>(optimizer)];
}
std::optional<OptimizerKind> ParseOptimizer(std::string_view name) {
  return Parse<OptimizerKind>(kOptimizers, name);
}

std::string_view RunPhaseName(RunPhase phase) {
  static constexpr std::array<std::string_view, 6> kNames = {"forward", "prefill",  "decode",
                                                             "all",     "backward", "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view MathKindName(MathKind kind) {
  static constexpr std::array<std::string_view, kMathKindCount> kNames = {
      "matmul", "batched-matmul", "convolution", "attention", "elementwise", "copy",
      "gather", "softmax",        "norm",        "reduce",    "send",        "view"};
  return kNames[static_cast<size_t>(kind)];
}

double Shape::Elements() const {
  double elements = 1;
  for (uint8_t i = 0; i < rank; ++i) elements *= static_cast<double>(dims[i]);
  return elements;
}

Work& Work::operator+=(const Work& other) {
  flops += other.flops;
  matmul_flops += other.matmul_flops;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  bytes_sent += other.bytes_sent;
  return *this;
}

Work operator*(const Work& work, double times) {
  return {work.flops * times, work.matmul_flops * times, work.bytes_read * times,
          work.bytes_written * times, work.bytes_sent * times};
}

double Work::Intensity() const {
  return Bytes() > 0 ? flops / Bytes() : std::numeric_limits<double>::quiet_NaN();
}

double TokensOf(const ModelInput& input) { return TokensOf(input, RunPhase::kAll); }

double TokensOf(const ModelInput& input, RunPhase phase) {
  if (input.image_size > 0) return 0;
  int64_t a_sequence = input.seq;
  if (input.prompt > 0) {
    a_sequence = phase == RunPhase::kPrefill  ? input.prompt
                 : phase == RunPhase::kDecode ? input.generate
                                              : input.prompt + input.generate;
  }
  return static_cast<double>(input.batch) * static_cast<double>(a_sequence);
}

double TokensMeant(const ModelInput& input, RunPhase phase) {
  const bool generation = phase == RunPhase::kAll && input.generate > 0;
  return TokensOf(input, generation ? RunPhase::kDecode : phase);
}

double LayersOf(const Description& description) {
  double layers = 0;
  const std::vector<TreeNode>& nodes = description.tree.nodes;
  for (NodeId node = 0; node < nodes.size();) {
    const bool is_layer = nodes[node].level == Level::kModule && SplitNumber(nodes[node].name);
    if (is_layer) layers += description.nodes[node].runs;
    node = is_layer ? nodes[node].end : node + 1;
  }
  return layers;
}

}  // namespace beryl
