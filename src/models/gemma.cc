#include "models/decoder.h"

namespace beryl::models {

BareModel BuildGemma(Graph& graph, Config& config) {
  DecoderParts parts = ReadDecoder(config, graph.pass(), "Gemma",
                                   {.vocab = 256000,
                                    .hidden = 3072,
                                    .layers = 28,
                                    .heads = 16,
                                    .kv_heads = 16,
                                    .head_dim = 256,
                                    .intermediate = 24576,
                                    .activation = "gelu_pytorch_tanh",
                                    .tied = true});
  parts.qkv_bias = parts.out_bias = config.Bool({"attention_bias"}, false);
  parts.gemma = true;
  // The first checkpoints' configurations say gelu, but the model never ran with it.
  if (parts.activation == "gelu") parts.activation = "gelu_pytorch_tanh";
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

BareModel BuildGemma2(Graph& graph, Config& config) {
  DecoderParts parts = ReadDecoder(config, graph.pass(), "Gemma2",
                                   {.vocab = 256000,
                                    .hidden = 2304,
                                    .layers = 26,
                                    .heads = 8,
                                    .kv_heads = 4,
                                    .head_dim = 256,
                                    .intermediate = 9216,
                                    .activation = "gelu_pytorch_tanh",
                                    .tied = true},
                                   {"hidden_activation"});
  parts.qkv_bias = parts.out_bias = config.Bool({"attention_bias"}, false);
  parts.softcap = config.MaybeNumber({"attn_logit_softcapping"}, 50).has_value();
  parts.gemma = true;
  parts.sandwich = true;
  // Every other layer has a window, starting with the first.
  SetWindows(
      config, parts, config.MaybeInt({"sliding_window"}, 4096),
      [](int64_t layer, int64_t) { return layer % 2 == 0; }, 0);
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

}  // namespace beryl::models
