#include <fmt/format.h>

#include "models/decoder.h"

namespace beryl::models {

BareModel BuildMistral(Graph& graph, Config& config) {
  DecoderParts parts =
      ReadDecoder(config, graph.pass(), "Mistral", {.kv_heads = 8, .intermediate = 14336});
  SetWindow(parts, config.MaybeInt({"sliding_window"}, 4096));
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

BareModel BuildMixtral(Graph& graph, Config& config) {
  DecoderParts parts =
      ReadDecoder(config, graph.pass(), "Mixtral", {.kv_heads = 8, .intermediate = 14336});
  SetWindow(parts, config.MaybeInt({"sliding_window"}, std::nullopt));
  parts.experts = config.Int({"num_local_experts", "num_experts"}, 8);
  parts.experts_a_token = config.Int({"num_experts_per_tok"}, 2);
  config.Require(parts.experts_a_token <= parts.experts, "num_experts_per_tok",
                 fmt::format("there are only {} experts", parts.experts));
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

}  // namespace beryl::models
