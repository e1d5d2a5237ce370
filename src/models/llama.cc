#include "models/decoder.h"

namespace beryl::models {

BareModel BuildLlama(Graph& graph, Config& config) {
  DecoderParts parts = ReadDecoder(config, graph.pass(), "Llama", {});
  parts.qkv_bias = parts.out_bias = config.Bool({"attention_bias"}, false);
  parts.mlp_bias = config.Bool({"mlp_bias"}, false);
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

}  // namespace beryl::models
