// What the forms of a ranking of operations have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "types/analysis.h"

namespace beryl::views {

std::string_view RankingName(OperationRanking::Kind kind);  // "tef"
std::string RankingTitle(const OperationRanking& ranking);
// Of the energy of all names.
std::optional<double> ShareOf(const OperationRow& row, const OperationRanking& ranking);
bool HasSteps(const OperationRanking& ranking);
// How much of it all the first `count` rows are, in words.
std::string ShownText(const OperationRanking& ranking, size_t count);

// The first `count` rows as bars, the name above each.
std::string DrawRanking(const AccountReport& report, const OperationRanking& ranking, size_t count);

}  // namespace beryl::views
