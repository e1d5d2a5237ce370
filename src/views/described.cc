// The parts of a model and the work of running it: as a table, JSON and CSV.
#include "views/described.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

// 0: not applicable.
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

constexpr const char* kSchema = "beryl.describe/2";

std::string Table(const Description& description, const TreeColumns& folded,
                  const ViewOptions& options) {
  TextPage page(options);
  page.Paragraph(page.Bold(TitleOf(description)));
  page.Paragraph(WorkText(description));
  page.Paragraph(MemoryText(description.memory));
  page.Line();
  TableLook look;
  look.columns = {"flops", "matmul_share", "bytes", "flops_per_byte", "parameters", "bytes_sent"};
  look.texts = {"outputs"};
  look.deepest = Level::kMl;
  std::string text = page.Take() + TreeTable(folded, look, options);
  page.Notes(description.notes);
  page.Foot("computed from the configuration alone", description.provenance);
  return text + page.Take();
}

std::string Json(const Description& description, const TreeColumns& tree,
                 const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, description.provenance);
  WriteModel(json, description);
  WriteTree(json.Key("tree"), tree, options);
  return EndResult(json, description.notes, description.provenance);
}

std::string Csv(const Description& description, const TreeColumns& tree,
                const ViewOptions& options) {
  return TreeCsv(tree, options, {{"model", description.model}}, InputFields(description),
                 {kSchema, description.provenance});
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

std::string PassText(const Description& description) {
  if (!description.training) {
    return description.input.prompt > 0 ? "generation" : "forward pass";
  }
  return fmt::format("step of training with {}{}", OptimizerName(description.training->optimizer),
                     description.training->checkpointing ? ", gradient checkpointing" : "");
}

std::string InputText(const Description& description) {
  std::string text =
      fmt::format("{}, {}, {}, {} attention", PassText(description), SizesText(description.input),
                  DtypeName(description.dtype), AttentionName(description.attention));
  if (description.input.gpus > 1) text += fmt::format(", {} GPUs", description.input.gpus);
  return text;
}

std::string WorkText(const Description& description) {
  const Work& work = description.nodes[0].work;
  std::string text =
      fmt::format("{}, {} in matrix products; {} moved, {} FLOP per byte; {} parameters",
                  Amount(work.flops, "FLOP"), FormatPercent(work.matmul_flops / work.flops),
                  Amount(work.Bytes(), "B"), Amount(work.Intensity()),
                  FormatCount(description.nodes[0].parameters));
  if (work.bytes_sent > 0) text += fmt::format("; {} between GPUs", Amount(work.bytes_sent, "B"));
  return text;
}

std::string MemoryText(const MemoryNeed& memory) {
  std::string text = fmt::format("memory at most {}: weights {}", Amount(memory.Total(), "B"),
                                 Amount(memory.weights, "B"));
  for (const auto& [name, bytes] : {std::pair("gradients", memory.gradients),
                                    {"optimizer", memory.optimizer},
                                    {"keys and values", memory.cache},
                                    {"activations", memory.activations}}) {
    if (bytes > 0) text += fmt::format(", {} {}", name, Amount(bytes, "B"));
  }
  return text;
}

void WriteMemory(JsonWriter& json, const MemoryNeed& memory) {
  json.Key("memory").BeginObject();
  WriteWhole(json, "total_bytes", memory.Total());
  WriteWhole(json, "weights_bytes", memory.weights);
  WriteWhole(json, "gradients_bytes", memory.gradients);
  WriteWhole(json, "optimizer_bytes", memory.optimizer);
  WriteWhole(json, "cache_bytes", memory.cache);
  WriteWhole(json, "activations_bytes", memory.activations);
  json.End();
}

std::string TitleOf(const Description& description) {
  return fmt::format("{}: {}, {}", Printable(description.model), description.tree.nodes[0].type,
                     InputText(description));
}

void WriteModel(JsonWriter& json, const Description& description) {
  json.Member("model", description.model).Member("family", description.family);
  WriteSizes(json, description.input);
  json.Member("dtype", DtypeName(description.dtype));
  json.Member("attention", AttentionName(description.attention));
  json.Key("training");
  if (description.training) {
    json.BeginObject();
    json.Member("optimizer", OptimizerName(description.training->optimizer));
    json.Member("checkpointing", description.training->checkpointing).End();
  } else {
    json.Value(std::optional<double>());
  }
  WriteMemory(json, description.memory);
}

void WriteSizes(JsonWriter& json, const ModelInput& input) {
  for (const auto& [name, size] : SizesOf(input)) {
    json.Member(name, size > 0 ? std::optional(size) : std::nullopt);
  }
}

NamedFields InputFields(const Description& description) {
  NamedFields fields;
  for (const auto& [name, size] : SizesOf(description.input)) {
    fields.emplace_back(name, size > 0 ? std::to_string(size) : "");
  }
  fields.emplace_back("dtype", DtypeName(description.dtype));
  fields.emplace_back("attention", AttentionName(description.attention));
  fields.emplace_back("optimizer", description.training
                                       ? OptimizerName(description.training->optimizer)
                                       : std::string_view());
  return fields;
}

std::vector<NodeId> PhasesOf(const Description& description) {
  std::vector<NodeId> phases;
  if (description.nodes[0].phase != RunPhase::kAll) return phases;
  for (const NodeId phase : Children(description.tree, 0)) phases.push_back(phase);
  return phases;
}

std::string UncalibratedText(const std::vector<std::string>& profiles, bool training) {
  const bool one = profiles.size() == 1;
  const std::string_view origin = training ? ""
                                  : one    ? " comes from a datasheet and"
                                           : " come from datasheets and";
  return Printable(fmt::format(
      "NOT CALIBRATED: {}{} {} never compared with a meter{}; take these numbers as a rough "
      "estimate",
      fmt::join(profiles, ", "), origin, one ? "was" : "were", training ? " on training" : ""));
}

std::string Write(const Description& description, const ShownTree& tree, Format format,
                  const ViewOptions& options) {
  const TreeColumns& shown = options.fold ? tree.folded : tree.whole;
  if (format == Format::kJson) return Json(description, shown, options);
  if (format == Format::kCsv) return Csv(description, shown, options);
  return Table(description, tree.folded, options);
}

}  // namespace beryl::views
