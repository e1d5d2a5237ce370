#include "flows/option_words.h"

namespace beryl::flows {

OptionWords<account::Policy> PolicyWords() {
  return {{"auto", account::Policy::kAuto},
          {"hold", account::Policy::kHold},
          {"linear", account::Policy::kLinear},
          {"exact", account::Policy::kExact}};
}

OptionWords<account::SplitRule> SplitWords() {
  return {{"busy", account::SplitRule::kBusy}, {"capacity", account::SplitRule::kCapacity}};
}

OptionWords<std::optional<Phase>> PhaseWords() {
  OptionWords<std::optional<Phase>> phases;
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    phases.emplace_back(PhaseName(phase), phase);
  }
  return phases;
}

OptionWords<std::optional<Level>> LevelWords() {
  OptionWords<std::optional<Level>> levels;
  for (const char* name : {"model", "module", "ml", "math", "kernel"}) {
    levels.emplace_back(name, ParseLevel(name));
  }
  return levels;
}

OptionWords<Method> MethodWords() {
  OptionWords<Method> methods;
  for (const MethodLook& look : Methods()) {
    if (!look.help.empty()) methods.emplace_back(look.name, look.method);
  }
  return methods;
}

OptionWords<FeatureSet> FeatureSetWords() {
  OptionWords<FeatureSet> sets;
  for (const char* name : {"all", "resource", "model"}) {
    sets.emplace_back(name, *ParseFeatureSet(name));
  }
  return sets;
}

}  // namespace beryl::flows
