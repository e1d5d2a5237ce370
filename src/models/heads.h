// Heads: the layers after a bare model, as the library builds them.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/families.h"

namespace beryl::models {

// Where a head is built, and the model it builds on.
struct HeadSite {
  Graph& graph;
  Config& config;
  const BareModel& model;
  std::string_view prefix;  // of the family's class names: "Bert"
};

// The part of the bare model that a head does without.
enum class Without : uint8_t { kNothing, kPooler, kEncoder, kDecoder };

struct HeadForm {
  std::string_view families;  // as in Family::heads_of, separated by blanks
  std::string_view task;      // its class name without the family's prefix: "ForMaskedLM"
  Without without = Without::kNothing;
  bool generates = false;  // models with this head generate text if their family does
  // Builds the head at the root and returns its output.
  Tensor (*build)(const HeadSite& at) = nullptr;
};

// By the name of its class, "BertForMaskedLM". nullptr if unknown.
const HeadForm* FindHead(const Family& family, std::string_view architecture);
// "Bert" for BertModel.
std::string_view ClassPrefix(const Family& family);

// The language model's head on the last token of each sequence, regardless of the configuration.
void LanguageModelHead(Graph& graph, const BareModel& model);

}  // namespace beryl::models
