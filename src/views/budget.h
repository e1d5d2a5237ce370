// A run compared with its budget, as a part of the account's formats.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "types/budget.h"
#include "views/views.h"

namespace beryl::views {

// Empty without a budget.
std::string BudgetTable(const std::vector<BudgetVerdict>& budget, const ViewOptions& options);
void WriteBudget(JsonWriter& json, const std::vector<BudgetVerdict>& budget);

}  // namespace beryl::views
