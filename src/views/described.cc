#include "views/described.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::views {
namespace {

// 0: it does not apply.
std::vector<std::pair<std::string, int64_t>> SizesOf(const ModelInput& input) {
  return {{"batch", input.batch},
          {"seq", input.seq},
          {"decoder_seq", input.decoder_seq},
          {"image_size", input.image_size},
          {"prompt", input.prompt},
          {"generate", input.generate},
          {"context", input.context},
          {"gpus", input.gpus}};
}

}  // namespace

std::string SizesText(const ModelInput& input) {
  std::vector<std::string> parts = {fmt::format("batch {}", input.batch)};
  if (input.image_size > 0) {
    parts.push_back(fmt::format("images of {} x {} pixels", input.image_size, input.image_size));
  } else if (input.prompt > 0) {
    parts.push_back(fmt::format("prompt {}, {} generated", input.prompt, input.generate));
  } else {
    parts.push_back(fmt::format("sequence {}", input.seq));
  }
  if (input.decoder_seq > 0) parts.push_back(fmt::format("decoder {}", input.decoder_seq));
  if (input.context > 0) parts.push_back(fmt::format("{} in the cache", input.context));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string InputText(const Description& description) {
  std::string text =
      fmt::format("{}, {}, {} attention", SizesText(description.input),
                  DtypeName(description.dtype), AttentionName(description.attention));
  if (description.input.gpus > 1) text += fmt::format(", {} GPUs", description.input.gpus);
  return text;
}

std::string WorkText(const Description& description) {
  const Work& work = description.nodes[0].work;
  std::string text =
      fmt::format("{}, {} of them in matrix products; {} moved, {} FLOP a byte; {} parameters",
                  Amount(work.flops, "FLOP"), FormatPercent(work.matmul_flops / work.flops),
                  Amount(work.Bytes(), "B"), Amount(work.Intensity()),
                  FormatCount(description.nodes[0].parameters));
  if (work.bytes_sent > 0) text += fmt::format("; {} between GPUs", Amount(work.bytes_sent, "B"));
  return text;
}

std::string TitleOf(const Description& description) {
  return fmt::format("{}: {}, {}", Printable(description.model), description.tree.nodes[0].type,
                     InputText(description));
}

void WriteModel(JsonWriter& json, const Description& description) {
  json.Member("model", description.model);
  json.Member("family", description.family);
  WriteSizes(json, description.input);
  json.Member("dtype", DtypeName(description.dtype));
  json.Member("attention", AttentionName(description.attention));
}

void WriteSizes(JsonWriter& json, const ModelInput& input) {
  for (const auto& [name, size] : SizesOf(input)) {
    json.Member(name, size > 0 ? std::optional(size) : std::nullopt);
  }
}

CsvFields InputFields(const Description& description) {
  CsvFields fields;
  for (const auto& [name, size] : SizesOf(description.input)) {
    fields.emplace_back(name, size > 0 ? std::to_string(size) : "");
  }
  fields.emplace_back("dtype", DtypeName(description.dtype));
  fields.emplace_back("attention", AttentionName(description.attention));
  return fields;
}

std::vector<NodeId> PhasesOf(const Description& description) {
  std::vector<NodeId> phases;
  if (description.nodes[0].phase != RunPhase::kAll) return phases;
  for (const NodeId phase : Children(description.tree, 0)) phases.push_back(phase);
  return phases;
}

std::string UncalibratedText(const std::string& profile) {
  return fmt::format(
      "NOT CALIBRATED: {} was worked out from a datasheet and never held against a meter; take "
      "these numbers as a first guess",
      Printable(profile));
}

}  // namespace beryl::views
