#include "types/energy_model.h"

#include <charconv>
#include <cmath>

namespace beryl {
namespace {

#define BERYL_METHOD_LOOK(id, name, seeded, features, help) \
  MethodLook{Method::id, name, seeded, FeatureUse::features, help},
constexpr std::array kMethods = {BERYL_METHODS(BERYL_METHOD_LOOK)};
#undef BERYL_METHOD_LOOK
constexpr std::array<std::string_view, 3> kFeatureSetNames = {"all", "resource", "model"};

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

std::span<const MethodLook> Methods() { return kMethods; }

std::string_view MethodName(Method method) { return kMethods[static_cast<size_t>(method)].name; }

std::optional<Method> ParseMethod(std::string_view name) {
  for (const MethodLook& look : kMethods) {
    if (look.name == name) return look.method;
  }
  return std::nullopt;
}

bool IsSeeded(Method method) { return kMethods[static_cast<size_t>(method)].seeded; }

std::string_view FeatureSetName(FeatureSet features) {
  return kFeatureSetNames[static_cast<size_t>(features)];
}

std::optional<FeatureSet> ParseFeatureSet(std::string_view name) {
  for (size_t i = 0; i < kFeatureSetNames.size(); ++i) {
    if (kFeatureSetNames[i] == name) return static_cast<FeatureSet>(i);
  }
  return std::nullopt;
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
