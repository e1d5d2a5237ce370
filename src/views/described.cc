#include "views/described.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::views {
namespace {

// Doubles below are exact whole numbers where they have no fraction.
constexpr double kLargestExact = 9007199254740992.0;

std::optional<int64_t> Given(int64_t size) {
  return size > 0 ? std::optional<int64_t>(size) : std::nullopt;
}

}  // namespace

std::string Amount(double value, const char* unit) {
  static constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  if (!std::isfinite(value)) return "-";
  size_t prefix = 0;
  // 999.6 would be written with three digits as 1000.
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const bool whole = prefix == 0 && std::floor(value) == value;
  const int digits = whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (prefix > 0 || *unit != '\0') text += fmt::format(" {}{}", kPrefixes[prefix], unit);
  return text;
}

std::string WholeOrFigure(double value) {
  if (!std::isfinite(value)) return "";
  if (std::floor(value) == value && std::abs(value) <= kLargestExact) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

void WriteWhole(JsonWriter& json, std::string_view key, double value) {
  if (std::floor(value) == value && std::abs(value) <= kLargestExact) {
    json.Member(key, static_cast<int64_t>(value));
  } else {
    json.Member(key, value);
  }
}

std::string InputText(const Description& description) {
  const ModelInput& input = description.input;
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
  parts.emplace_back(DtypeName(description.dtype));
  parts.push_back(fmt::format("{} attention", AttentionName(description.attention)));
  if (input.gpus > 1) parts.push_back(fmt::format("{} GPUs", input.gpus));
  return fmt::format("{}", fmt::join(parts, ", "));
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
  const ModelInput& input = description.input;
  json.Member("batch", input.batch);
  json.Member("seq", Given(input.seq));
  json.Member("decoder_seq", Given(input.decoder_seq));
  json.Member("image_size", Given(input.image_size));
  json.Member("prompt", Given(input.prompt));
  json.Member("generate", Given(input.generate));
  json.Member("context", Given(input.context));
  json.Member("gpus", input.gpus);
  json.Member("dtype", DtypeName(description.dtype));
  json.Member("attention", AttentionName(description.attention));
}

void WriteSentences(JsonWriter& json, std::string_view key,
                    const std::vector<std::string>& sentences) {
  json.Key(key).BeginArray();
  for (const std::string& sentence : sentences) json.Value(sentence);
  json.End();
}

std::string LineName(const Description& description, const FoldedNode& line, size_t width) {
  const TreeNode& node = description.tree.nodes[line.first()];
  std::string name(2 * size_t{line.depth}, ' ');
  name += Printable(line.name);
  if (line.count > 1) name += fmt::format(" x{}", line.count);
  if (!node.type.empty() && node.type != node.name) {
    std::string full = name + " " + Printable(node.type);
    if (DisplayWidth(full) <= width) return full;
  }
  return Ellipsize(name, width);
}

std::string LeftOutText(const Description& description, const std::vector<FoldedNode>& all,
                        const std::vector<FoldedNode>& shown) {
  if (shown.size() == all.size()) return "";
  int deepest = 0;
  size_t math = 0;
  for (const FoldedNode& line : all) {
    deepest = std::max<int>(deepest, line.depth);
    if (description.tree.nodes[line.first()].level == Level::kMath) ++math;
  }
  return fmt::format("{} of {} lines; --depth {} shows all, {} math operations among them",
                     shown.size(), all.size(), deepest, math);
}

double ValueAt(const std::vector<double>& column, NodeId node) {
  return node < column.size() ? column[node] : kUnknown;
}

bool IsBeyond(const DescribedPrediction& prediction, NodeId node) {
  return node < prediction.beyond.size() && prediction.beyond[node];
}

std::vector<NodeId> PhasesOf(const Description& description) {
  std::vector<NodeId> phases;
  if (description.nodes[0].phase != RunPhase::kAll) return phases;
  const std::vector<TreeNode>& nodes = description.tree.nodes;
  for (NodeId node = 1; node < nodes.size(); node = nodes[node].end) phases.push_back(node);
  return phases;
}

std::string UncalibratedText(const std::string& profile) {
  return fmt::format(
      "NOT CALIBRATED: {} was worked out from a datasheet and never held against a meter; take "
      "these numbers as a first guess",
      Printable(profile));
}

}  // namespace beryl::views
