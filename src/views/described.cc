#include "views/described.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::views {
namespace {

std::optional<int64_t> Given(int64_t size) {
  return size > 0 ? std::optional<int64_t>(size) : std::nullopt;
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

void WriteInput(JsonWriter& json, const Description& description) {
  WriteSizes(json, description.input);
  json.Member("dtype", DtypeName(description.dtype));
  json.Member("attention", AttentionName(description.attention));
}

void WriteSizes(JsonWriter& json, const ModelInput& input) {
  json.Member("batch", input.batch);
  json.Member("seq", Given(input.seq));
  json.Member("decoder_seq", Given(input.decoder_seq));
  json.Member("image_size", Given(input.image_size));
  json.Member("prompt", Given(input.prompt));
  json.Member("generate", Given(input.generate));
  json.Member("context", Given(input.context));
  json.Member("gpus", input.gpus);
}

void WriteSentences(JsonWriter& json, std::string_view key,
                    const std::vector<std::string>& sentences) {
  json.Key(key).BeginArray();
  for (const std::string& sentence : sentences) json.Value(sentence);
  json.End();
}

CsvFields InputFields(const Description& description) {
  const ModelInput& input = description.input;
  const auto size = [](int64_t value) { return value > 0 ? std::to_string(value) : ""; };
  return {{"batch", size(input.batch)},
          {"seq", size(input.seq)},
          {"decoder_seq", size(input.decoder_seq)},
          {"image_size", size(input.image_size)},
          {"prompt", size(input.prompt)},
          {"generate", size(input.generate)},
          {"context", size(input.context)},
          {"gpus", size(input.gpus)},
          {"dtype", std::string(DtypeName(description.dtype))},
          {"attention", std::string(AttentionName(description.attention))}};
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
