#include "models/bert.h"

namespace beryl::models {

// BERT, but that positions are counted from behind the padding token's number.
Tensor BuildRoberta(Graph& graph, Config& config) {
  BertParts parts = ReadBert(config, "Roberta");
  parts.sizes.vocab = config.Int({"vocab_size"}, 50265);
  parts.position_a_token = true;
  const auto padding = static_cast<int64_t>(config.Number({"pad_token_id"}, 1));
  RequirePositions(config, "max_position_embeddings", graph.pass(),
                   parts.sizes.positions - padding - 1);
  RequireGpus(config, "num_attention_heads", graph.pass(), parts.sizes.heads);
  return config.error() ? Tensor{} : BuildBertParts(graph, parts);
}

}  // namespace beryl::models
