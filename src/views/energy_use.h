// What the views of data sets have in common: where the numbers came from, and how they read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/units.h"
#include "types/energy_use.h"
#include "views/figures.h"

namespace beryl::views {

// "measured", "predicted by gtx1080ti", or both.
std::string EnergySource(bool predicted, const EnergyOrigin& origin);
std::string EnergySources(const EnergyOrigin& origin);
// "tool", "data", "energy" and "notes".
void WriteOrigin(JsonWriter& json, const EnergyOrigin& origin);

// "electricity in US: 0.1319 USD per kWh (2021-05, who says so); 0.4 g CO2e per kWh (...)"
std::string ElectricityText(const Electricity& grid);
// "electricity".
void WriteElectricity(JsonWriter& json, const Electricity& grid);

std::optional<Joules> EnergyOf(const Tradeoff::Point& point, bool predicted);
// What a budget and a target choose, and what had no place in the picture: a sentence each.
std::vector<std::string> TradeoffSentences(const Tradeoff& tradeoff);
// "batch 16, sequence 128 (the largest input size that all models have)"
std::string TradeoffSize(const Tradeoff& tradeoff);

std::string DrawTradeoff(const Tradeoff& tradeoff);

}  // namespace beryl::views
