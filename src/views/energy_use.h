// Shared by the views of data sets: the sources of the numbers, and their format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/units.h"
#include "types/energy_use.h"
#include "views/text/figures.h"

namespace beryl::views {

// "measured", "predicted by gtx1080ti", or both.
std::string EnergySource(bool predicted, const EnergyOrigin& origin);
std::string EnergySources(const EnergyOrigin& origin);
// "tool", "data", "energy" and "notes".
void WriteOrigin(JsonWriter& json, const EnergyOrigin& origin);

// "electricity in US: 0.1319 USD per kWh (2021-05, who says so); 0.4 g CO2e per kWh (...)"
std::string ElectricityText(const Electricity& grid);
// Its members, and with them "electricity".
void WriteElectricityMembers(JsonWriter& json, const Electricity& grid);
void WriteElectricity(JsonWriter& json, const Electricity& grid);

std::optional<Joules> EnergyOf(const Tradeoff::Point& point, bool predicted);
// The choices of a budget and a target, and what the picture leaves out: one sentence each.
std::vector<std::string> TradeoffSentences(const Tradeoff& tradeoff);
// "batch 16, sequence 128 (the largest input size that all models have)"
std::string TradeoffSize(const Tradeoff& tradeoff);

std::string DrawTradeoff(const Tradeoff& tradeoff);

}  // namespace beryl::views
