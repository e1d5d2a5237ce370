#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {

BareModel BuildVit(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  Sizes sizes;
  sizes.hidden = config.Int({"hidden_size"}, 768);
  sizes.layers = ReadLayers(config, {"num_hidden_layers"}, 12);
  sizes.heads = config.Int({"num_attention_heads"}, 12);
  sizes.intermediate = config.Int({"intermediate_size"}, 3072);
  const std::pair<int64_t, int64_t> image = config.Pair({"image_size"}, 224);
  const int64_t height = image.first;
  const int64_t width = image.second;
  const std::pair<int64_t, int64_t> patch = config.Pair({"patch_size"}, 16);
  const int64_t patch_height = patch.first;
  const int64_t patch_width = patch.second;
  const int64_t channels = config.Int({"num_channels"}, 3);
  const bool qkv_bias = config.Bool({"qkv_bias"}, true);
  const int64_t pooled = config.Int({"pooler_output_size"}, sizes.hidden);
  const std::string pooler_act = ReadActivation(config, {"pooler_act"}, "tanh");
  const std::string activation = ReadActivation(config, {"hidden_act"}, "gelu");
  RequireHeads(config, "num_attention_heads", sizes);
  RequireGpus(config, "num_attention_heads", pass, sizes.heads);
  config.Require(
      height >= patch_height && width >= patch_width && std::max(height, width) <= 65536,
      "image_size",
      fmt::format("must be from one patch of {} x {} pixels to 65536", patch_height, patch_width));
  if (config.error()) return {};
  const int64_t patches = (height / patch_height) * (width / patch_width);
  const AttentionOptions options = {
      .heads = sizes.heads, .kv_heads = sizes.heads, .head_dim = sizes.hidden / sizes.heads};

  const Tensor pixels = graph.Activation({pass.batch, channels, height, width});
  Tensor x = graph.Activation({pass.batch, patches + 1, sizes.hidden});
  x = graph.Module("embeddings", "ViTEmbeddings", pixels, [&] {
    // The class token, and a position for it and for each patch.
    graph.AddWeight({1, 1, sizes.hidden});
    graph.AddWeight({1, patches + 1, sizes.hidden});
    const Tensor embedded = graph.Module("patch_embeddings", "ViTPatchEmbeddings", pixels, [&] {
      const Tensor y = graph.Conv2d("projection", pixels, sizes.hidden, patch_height, patch_width);
      return graph.Activation({pass.batch, patches, sizes.hidden}).Of(y);
    });
    x = graph.Copy("cat", x.Of(embedded));
    x = graph.Add(x, graph.Activation({1, patches + 1, sizes.hidden}));
    graph.Dropout("dropout", x);
    return x;
  });
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = graph.Module(Numbered("layers", i), "ViTLayer", x, [&] {
      Tensor y = graph.LayerNorm("layernorm_before", x);
      y = graph.Module("attention", "ViTAttention", y, [&] {
        const LinearOptions split = {.bias = qkv_bias, .split = Split::kColumns};
        const Tensor q = graph.Linear("q_proj", y, sizes.hidden, split);
        const Tensor k = graph.Linear("k_proj", y, sizes.hidden, split);
        const Tensor v = graph.Linear("v_proj", y, sizes.hidden, split);
        return graph.Linear("o_proj", Attend(graph, q, k, v, options), sizes.hidden,
                            {.split = Split::kRows});
      });
      graph.Dropout("dropout", y);  // once more behind the feed-forward network
      x = graph.Add(y, x);
      y = graph.LayerNorm("layernorm_after", x);
      y = graph.Module("mlp", "ViTMLP", y, [&] {
        return FeedForward(graph, {"fc1", "activation_fn", "fc2"}, sizes, activation, y);
      });
      return graph.Add(y, x);
    });
  }
  x = graph.LayerNorm("layernorm", x);
  BareModel model = {.hidden = x};
  if (!pass.pooler) return model;
  model.pooled = graph.Module("pooler", "ViTPooler", x, [&] {
    const Tensor first = graph.Activation({pass.batch, sizes.hidden}).Of(x);
    return graph.Act("activation", pooler_act, graph.Linear("dense", first, pooled));
  });
  return model;
}

}  // namespace beryl::models
