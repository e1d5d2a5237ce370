#include "analyze/known_energy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::analyze {

namespace {

std::optional<Joules> Root(const std::vector<double>& column) {
  return column.empty() ? std::nullopt : IfKnown<Joules>(column.front());
}

}  // namespace

WholeEnergy WholeEnergyOf(const Column& predicted) {
  return {std::nullopt, Root(predicted.total), Root(predicted.low), Root(predicted.high)};
}

WholeEnergy WholeEnergyOf(const Dataset& data, const std::vector<Column>& predicted, size_t run) {
  WholeEnergy energy;
  if (run < predicted.size()) energy = WholeEnergyOf(predicted[run]);
  energy.measured = Root(data.runs[run].measured);
  return energy;
}

Error NoEnergyError(const Dataset& data, bool predicted) {
  const char* next = predicted
                         ? "and none could be predicted: the notes show what the profile needs"
                         : "so there is nothing to analyse: a profile can predict it";
  return InvalidError(
      fmt::format("{}: no model's energy was measured, {}", Printable(data.name), next),
      {"profile"});
}

std::string SizeText(const InputSize& size) {
  const auto text = [](std::optional<double> one) {
    return one ? fmt::format("{:g}", *one) : std::string("?");
  };
  return text(size.first) + "x" + text(size.second);
}

std::string SizesText(const Dataset& data) {
  std::vector<InputSize> sizes;
  for (const ModelRun& run : data.runs) sizes.emplace_back(run.batch_size, run.seq_len);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<std::string> words;
  words.reserve(sizes.size());
  for (const InputSize& size : sizes) words.push_back(SizeText(size));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace beryl::analyze
