// A run's energy along its tree in the formats of other tools.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/account_report.h"

namespace beryl::views {

// Whole numbers of `unit` that differ from the values by less than one and add up to their sum,
// rounded: what is lost in rounding goes to those that lost most. NaN and negative values are 0.
std::vector<uint64_t> RoundTogether(const std::vector<double>& values, double unit);

// `self_s`: seconds at work of each node of the report's tree.
std::string WriteFoldedStacks(const AccountReport& report);
std::string WriteSpeedscope(const AccountReport& report);
std::string WriteChromeTrace(const AccountReport& report);
std::string WritePprof(const AccountReport& report, const std::vector<double>& self_s);

}  // namespace beryl::views
