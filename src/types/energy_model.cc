#include "types/energy_model.h"

#include <cmath>

#include <fmt/format.h>

namespace beryl {
namespace {

constexpr std::array<std::string_view, 6> kMethodNames = {"law", "end2end",      "stepwise",
                                                          "sum", "unstructured", "baseline"};
constexpr std::array<std::string_view, 3> kFeatureSetNames = {"all", "resource", "model"};

template <typename Enum, size_t kCount>
std::optional<Enum> Parse(const std::array<std::string_view, kCount>& names,
                          std::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// Two digits, or as many as a whole number has: "98", "1.5", "0.12".
std::string Watts(double watts) {
  return std::fabs(watts) < 10 ? fmt::format("{:.2g} W", watts) : fmt::format("{:.0f} W", watts);
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
  auto add_energy = [&](const std::optional<LawTerm>& term, std::string_view whose) {
    if (!term) return;
    sentence += fmt::format("{:.2f} x {} energy{} + ", term->value, whose, Assumed(*term));
  };
  add_energy(law.gpu_energy, "GPU");
  add_energy(law.cpu_energy, "CPU");
  sentence += fmt::format("{} x time{}", Watts(law.rest_w.value), Assumed(law.rest_w));
  if (law.busy_w) {
    sentence += fmt::format(", and {} for each % of CPU above {:.1f} %{}", Watts(law.busy_w->value),
                            law.busy_reference, Assumed(*law.busy_w));
  }
  return sentence;
}

}  // namespace beryl
