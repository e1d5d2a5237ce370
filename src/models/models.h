// Describes models: turns a catalog name or a Hugging Face config.json into the model's tree with
// shapes, operations, bytes and parameters. Needs no weights, no Python, no network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/description.h"

namespace beryl::models {

// A configuration and the name of its model.
struct ModelConfig {
  std::string name;
  std::string text;  // of a config.json
};

struct CatalogEntry {
  std::string name;
  std::string family;
  std::string config;  // the part of its config.json that determines the tree
};
// Ordered by family, as in the catalog.
const std::vector<CatalogEntry>& Catalog();
// Finds a model by name, with or without the organisation, ignoring case. The error suggests
// similar names.
Result<ModelConfig> FindConfig(std::string_view name);
// The known model types: "bert, roberta, ...".
std::string FamilyNames();

// The models that a family descends from: "BERT" for roberta and distilbert, "GPT" for gpt2. Empty
// if the family is unknown.
std::string_view LineageOf(std::string_view family);

// What a family's models take as input, and whether they generate.
struct ModelTraits {
  bool generates = false;
  bool encoder_decoder = false;
  bool takes_images = false;
  int64_t vocabulary = 0;  // rows of the word table; 0: it has none
};
// Fails like Describe if the family is unknown.
Result<ModelTraits> TraitsOf(const ModelConfig& config);
// Whether a class is this configuration's model, bare or with a known head.
bool IsClassOf(const ModelConfig& config, std::string_view name);

// The layers after the bare model.
enum class HeadChoice : uint8_t {
  kNone,
  kLanguageModel,  // the language model's head, on the last token of each sequence
  // The head of the class that the configuration's 'architectures' names first, that is, of the
  // model that ran: on all tokens, in a generation on the last. The bare model, if that is named or
  // nothing is.
  kArchitecture,
  // The same; without a named class, a generation has the language model's head, and what is
  // trained the head that its family is best known for, because neither works without one.
  kUsual,
};

struct DescribeOptions {
  // 0 for values that were not given. Without seq and prompt: 128 tokens, or as many as fit.
  ModelInput input = {};
  std::optional<Dtype> dtype = Dtype::kFloat32;  // nothing: the configuration's, else float32
  AttentionKind attention = AttentionKind::kEager;
  std::string attention_of = {};  // the profile whose attention this is; empty: no profile's
  HeadChoice head = HeadChoice::kNone;
  std::optional<Training> training = {};  // nothing: it is not trained
  std::string architecture = {};          // with kArchitecture: overrides the configuration
  // Keys of the configuration to change, and their values as text.
  std::vector<std::pair<std::string, std::string>> set = {};
  // If the hidden size is set, heads and inner sizes follow it unless they are set too.
  bool follow_hidden_size = false;
};

// Whether a key is a hidden size, by any of its names.
bool IsHiddenSize(std::string_view key);

// Fails if the family is unknown, the configuration contradicts itself (the error names the key),
// `set` has a key unknown to the family, or the input does not fit the model.
Result<Description> Describe(const ModelConfig& config, const DescribeOptions& options);

}  // namespace beryl::models
