// The words that options and parameters choose from, each with what it means.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account/account.h"
#include "types/energy_model.h"
#include "types/model_tree.h"
#include "types/op_trace.h"

namespace beryl::flows {

template <typename Meaning>
using OptionWords = std::vector<std::pair<std::string, Meaning>>;

OptionWords<account::Policy> PolicyWords();
OptionWords<account::SplitRule> SplitWords();
OptionWords<std::optional<Phase>> PhaseWords();
OptionWords<std::optional<Level>> LevelWords();
// Those that a user may name.
OptionWords<Method> MethodWords();
OptionWords<FeatureSet> FeatureSetWords();

}  // namespace beryl::flows
