// Heads: what stands behind a bare model, as the library builds it.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/families.h"

namespace beryl::models {

// Where a head is built, and what it goes on from.
struct HeadSite {
  Graph& graph;
  Config& config;
  const BareModel& model;
  std::string_view prefix;  // of the family's classes: "Bert"
};

// What of the bare model a head goes without.
enum class Without : uint8_t { kNothing, kPooler, kEncoder, kDecoder };

struct HeadForm {
  std::string_view families;  // their model types, with blanks between
  std::string_view task;      // the name of its class behind the family's prefix: "ForMaskedLM"
  Without without = Without::kNothing;
  bool generates = false;  // a model with this head does, if its family does
  // Builds it at the root and returns what comes out.
  Tensor (*build)(const HeadSite& at) = nullptr;
};

// By the name of its class, "BertForMaskedLM". Nothing: it is not known.
const HeadForm* FindHead(const Family& family, std::string_view architecture);
// "Bert", of BertModel.
std::string_view ClassPrefix(const Family& family);

// The language model's head on the last token of each sequence, whatever the configuration says.
void LanguageModelHead(Graph& graph, const BareModel& model);

}  // namespace beryl::models
