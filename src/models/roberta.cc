#include "models/bert.h"

namespace beryl::models {
namespace {

// BERT, except that positions are counted from the padding token's id.
BareModel Build(Graph& graph, Config& config, const char* prefix, int64_t vocab) {
  BertParts parts = ReadBert(config, prefix);
  parts.sizes.vocab = config.Int({"vocab_size"}, vocab);
  parts.position_a_token = true;
  const double padding = config.Number({"pad_token_id"}, 1);
  config.Require(padding >= 0 && padding < static_cast<double>(parts.sizes.vocab), "pad_token_id",
                 "is not a token of the vocabulary");
  if (config.error()) return {};
  RequirePositions(config, "max_position_embeddings", graph.pass(),
                   parts.sizes.positions - static_cast<int64_t>(padding) - 1);
  RequireGpus(config, "num_attention_heads", graph.pass(), parts.sizes.heads);
  return config.error() ? BareModel{} : BuildBertParts(graph, parts);
}

}  // namespace

BareModel BuildRoberta(Graph& graph, Config& config) {
  return Build(graph, config, "Roberta", 50265);
}

BareModel BuildXlmRoberta(Graph& graph, Config& config) {
  return Build(graph, config, "XLMRoberta", 30522);
}

}  // namespace beryl::models
