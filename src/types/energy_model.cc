#include "types/energy_model.h"

#include <charconv>
#include <cmath>

namespace beryl {
namespace {

constexpr std::array<std::string_view, 8> kMethodNames = {
    "law", "end2end", "stepwise", "sum", "unstructured", "baseline", "describe", "datasheet"};
constexpr std::array<std::string_view, 3> kFeatureSetNames = {"all", "resource", "model"};

template <typename Enum, size_t kCount>
std::optional<Enum> Parse(const std::array<std::string_view, kCount>& names,
                          std::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

std::string Decimals(double value, int decimals) {
  std::array<char, 400> text;  // the largest double has 309 digits
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::fixed, decimals);
  return {text.data(), end};
}

// Two digits, or as many as a whole number has: "98", "1.5", "0.12".
std::string WattsText(double watts) {
  const double size = std::fabs(watts);
  return Decimals(watts, size >= 9.95 ? 0 : size >= 0.995 ? 1 : 2) + " W";
}

std::string_view Assumed(const LawTerm& term) { return term.measured ? "" : " (assumed)"; }

}  // namespace

std::string_view MethodName(Method method) { return kMethodNames[static_cast<size_t>(method)]; }

std::optional<Method> ParseMethod(std::string_view name) {
  return Parse<Method>(kMethodNames, name);
}

bool IsSeeded(Method method) {
  return method == Method::kEnd2End || method == Method::kStepwise ||
         method == Method::kUnstructured;
}

std::string_view FeatureSetName(FeatureSet features) {
  return kFeatureSetNames[static_cast<size_t>(features)];
}

std::optional<FeatureSet> ParseFeatureSet(std::string_view name) {
  return Parse<FeatureSet>(kFeatureSetNames, name);
}

std::string LawSentence(const EnergyLaw& law) {
  std::string sentence;
  auto add_energy = [&](const std::optional<LawTerm>& term, const char* energy) {
    if (!term) return;
    sentence += Decimals(term->value, 2) + " x " + energy;
    sentence += Assumed(*term);
    sentence += " + ";
  };
  add_energy(law.gpu_energy, "GPU energy");
  add_energy(law.cpu_energy, "CPU energy");
  sentence += WattsText(law.rest_w.value) + " x time";
  sentence += Assumed(law.rest_w);
  if (law.busy_w) {
    sentence += ", and " + WattsText(law.busy_w->value) + " for each % of CPU above " +
                Decimals(law.busy_reference, 1) + " %";
    sentence += Assumed(*law.busy_w);
  }
  return sentence;
}

}  // namespace beryl
