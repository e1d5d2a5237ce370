// What the forms of energy distribution diagrams have in common.
#pragma once

#include <string>
#include <vector>

#include "types/analysis.h"

namespace beryl::views {

// For people who do not see the picture: each figure's largest boxes.
std::string DescribeDiagrams(const std::vector<EnergyDiagram>& diagrams);

std::string DrawDiagrams(const AccountReport& report, const std::vector<EnergyDiagram>& diagrams);

}  // namespace beryl::views
