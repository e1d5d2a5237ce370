#include "models/decoder.h"

namespace beryl::models {
namespace {

// Layers from max_window_layers on have a window, if windows are used at all.
void ReadWindows(Config& config, DecoderParts& parts) {
  const bool windows = config.Bool({"use_sliding_window"}, false);
  const auto window = config.MaybeInt({"sliding_window"}, 4096);
  const double from = config.Number({"max_window_layers"}, 28);
  config.Require(from >= 0 && from <= 1e6, "max_window_layers", "must be a number of 0 or more");
  if (config.error()) return;
  SetWindows(
      config, parts, windows ? window : std::nullopt,
      [](int64_t layer, int64_t first) { return layer >= first; }, static_cast<int64_t>(from));
}

}  // namespace

BareModel BuildQwen2(Graph& graph, Config& config) {
  DecoderParts parts = ReadDecoder(config, graph.pass(), "Qwen2",
                                   {.vocab = 151936, .kv_heads = 32, .intermediate = 22016});
  parts.qkv_bias = true;
  ReadWindows(config, parts);
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

BareModel BuildQwen3(Graph& graph, Config& config) {
  DecoderParts parts =
      ReadDecoder(config, graph.pass(), "Qwen3",
                  {.vocab = 151936, .kv_heads = 32, .head_dim = 128, .intermediate = 22016});
  parts.qkv_bias = parts.out_bias = config.Bool({"attention_bias"}, false);
  parts.qk_norm = true;
  ReadWindows(config, parts);
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

}  // namespace beryl::models
