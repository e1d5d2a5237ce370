// Models from their description: from a name of the catalog or a Hugging Face config.json to the
// model's tree with shapes, operations, bytes and parameters. No weights, no Python, no network.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/description.h"

namespace beryl::models {

// A configuration, and what its model is called.
struct ModelConfig {
  std::string name;
  std::string text;  // of a config.json
};

struct CatalogEntry {
  std::string name;
  std::string family;
  std::string config;  // the text of its config.json, as far as it decides the tree
};
// In the order of the catalog: by family.
const std::vector<CatalogEntry>& Catalog();
// By its name, with or without the organisation before it, in any case. The error names near ones.
Result<ModelConfig> FindConfig(std::string_view name);
// The model types that are known: "bert, roberta, ...".
std::string FamilyNames();

// What a family's models take and do.
struct ModelTraits {
  bool generates = false;
  bool encoder_decoder = false;
  bool takes_images = false;
  int64_t vocabulary = 0;  // rows of the table of words; 0: it has none
};
// Fails as Describe does where the family is not known.
Result<ModelTraits> TraitsOf(const ModelConfig& config);
// Whether a class is the model of this configuration, bare or with a head that is known.
bool IsClassOf(const ModelConfig& config, std::string_view name);

// What stands behind the bare model.
enum class HeadChoice : uint8_t {
  kNone,
  kLanguageModel,  // the language model's head, on the last token of each sequence
  // The one of the class that the configuration's 'architectures' names first: what was run. On all
  // tokens, in a generation on the last. The bare model, if that is named, or nothing is.
  kArchitecture,
};

struct DescribeOptions {
  // 0 for what was not asked for. Without seq and prompt, 128 tokens, or as many as fit.
  ModelInput input = {};
  Dtype dtype = Dtype::kFloat32;
  AttentionKind attention = AttentionKind::kEager;
  HeadChoice head = HeadChoice::kNone;
  std::string architecture = {};  // with kArchitecture: instead of what the configuration names
  // Keys of the configuration to change, and their values as text.
  std::vector<std::pair<std::string, std::string>> set = {};
  // Where the hidden size is set: heads and inner sizes follow it, unless they are set too.
  bool follow_hidden_size = false;
};

// Whether a key is a hidden size, by any of the names that families have for it.
bool IsHiddenSize(std::string_view key);

// Fails where the configuration is of no known family or contradicts itself, with the key's name;
// where `set` has a key that the family does not know; where the input does not suit the model.
Result<Description> Describe(const ModelConfig& config, const DescribeOptions& options);

}  // namespace beryl::models
