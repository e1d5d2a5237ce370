#include "learn/known_energy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::learn {

WholeEnergy WholeEnergyOf(const Dataset& data, const std::vector<Column>& predicted, size_t run) {
  auto root = [](const std::vector<double>& column) {
    return column.empty() ? std::nullopt : IfKnown<Joules>(column.front());
  };
  WholeEnergy energy;
  energy.measured = root(data.runs[run].measured);
  if (run < predicted.size()) {
    energy.predicted = root(predicted[run].total);
    energy.low = root(predicted[run].low);
    energy.high = root(predicted[run].high);
  }
  return energy;
}

Error NoEnergyError(const Dataset& data, bool predicted) {
  const char* next = predicted ? "and none could be predicted: the notes say what the profile needs"
                               : "so there is nothing to analyse: --profile names what predicts it";
  return InvalidError(
      fmt::format("{}: no model's energy was measured, {}", Printable(data.name), next));
}

std::string SizeText(double batch_size, double seq_len) {
  return fmt::format("{:g}x{:g}", batch_size, seq_len);
}

std::string SizesText(const Dataset& data) {
  std::vector<std::pair<double, double>> sizes;
  for (const ModelRun& run : data.runs) sizes.emplace_back(run.batch_size, run.seq_len);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<std::string> words;
  words.reserve(sizes.size());
  for (const auto& [batch_size, seq_len] : sizes) words.push_back(SizeText(batch_size, seq_len));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace beryl::learn
