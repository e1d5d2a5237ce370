// The encoder of BERT, shared with RoBERTa.
#pragma once

#include <string>

#include "models/families.h"

namespace beryl::models {

struct BertParts {
  std::string prefix;  // of its class names: "Bert"
  Sizes sizes;
  int64_t types = 2;  // of tokens
  std::string activation;
  bool position_a_token = false;  // positions are counted per sequence (RoBERTa)
};

// With the library's defaults for BERT.
BertParts ReadBert(Config& config, std::string prefix);
BareModel BuildBertParts(Graph& graph, const BertParts& parts);

}  // namespace beryl::models
