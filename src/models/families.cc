#include "models/families.h"

#include <fmt/format.h>

#include "models/activations.h"

namespace beryl::models {

const std::vector<Family>& Families() {
  using enum InputKind;
  static const std::vector<Family> kAll = {
#define BERYL_FAMILY(type, root, lineage, input, generates, build, heads_of, ...) \
  {type, root, lineage, input, generates, build, heads_of, {__VA_ARGS__}},
#include "models/family_table.inc"
#undef BERYL_FAMILY
  };
  return kAll;
}

const Family* FindFamily(std::string_view model_type) {
  for (const Family& family : Families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

std::string Numbered(std::string_view list, int64_t index) {
  return fmt::format("{}.{}", list, index);
}

Tensor FeedForward(Graph& graph, const std::array<const char*, 3>& names, const Sizes& sizes,
                   std::string_view activation, const Tensor& x) {
  const Tensor wide = graph.Linear(names[0], x, sizes.intermediate, {.split = Split::kColumns});
  return graph.Linear(names[2], graph.Act(names[1], activation, wide), sizes.hidden,
                      {.split = Split::kRows});
}

int64_t ReadLayers(Config& config, Keys keys, int64_t otherwise) {
  constexpr int64_t kMost = 4096;
  const int64_t layers = config.Int(keys, otherwise);
  config.Require(layers <= kMost, *keys.begin(),
                 fmt::format("more than {} layers are not supported", kMost));
  return layers;
}

void RequireHeads(Config& config, std::string_view heads_key, const Sizes& sizes) {
  config.Require(
      sizes.hidden % sizes.heads == 0, heads_key,
      fmt::format("{} heads do not divide a hidden size of {}", sizes.heads, sizes.hidden));
}

void RequirePositions(Config& config, std::string_view key, const Pass& pass, int64_t positions) {
  config.Require(pass.cached + pass.tokens <= positions, key,
                 fmt::format("the model has {} positions, {} tokens do not fit; ask for fewer, or "
                             "set {}=N",
                             positions, pass.cached + pass.tokens, key),
                 {"set"});
}

std::string ReadActivation(Config& config, Keys keys, const std::string& otherwise) {
  std::string name = config.Text(keys, otherwise);
  config.Require(FindActivation(name) != nullptr, *keys.begin(),
                 fmt::format("'{}' is unknown; expected one of {}", name, ActivationNames()));
  return name;
}

void RequireGpus(Config& config, std::string_view key, const Pass& pass, int64_t heads) {
  config.Require(heads % pass.gpus == 0, key,
                 fmt::format("{} heads cannot be divided among {} GPUs", heads, pass.gpus));
}

void RequireNoCrossAttention(Config& config) {
  config.Require(!config.Bool({"add_cross_attention"}, false), "add_cross_attention",
                 "models that attend to another model's output are not supported");
}

}  // namespace beryl::models
