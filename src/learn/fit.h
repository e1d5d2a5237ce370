// One fit and its predictions, without intervals: what training and evaluation are made of.
#pragma once

#include <vector>

#include "base/result.h"
#include "learn/intervals.h"
#include "learn/learn.h"
#include "learn/measurements.h"

namespace beryl::learn {

// By position in Measurements::models.
using ModelChoice = std::vector<bool>;

bool KnowsAll(const FeatureRow& row, const std::vector<Feature>& features);

// Whether the method can learn from data with these features at all; the error says what is
// missing and what to do.
Result<bool> CheckMethod(Method method, FeatureSet set, const std::vector<Feature>& known);

// Learns from the chosen models. `known`: features that all data has, also what will be predicted.
Result<EnergyModel> Fit(const Measurements& all, const ModelChoice& models,
                        const std::vector<Feature>& known, const TrainOptions& options);

// Joules by node of the chosen models; NaN: another model, or it cannot be predicted. `spreads`
// takes how sure each is, where the method can tell; else it is left empty.
std::vector<double> PredictNodes(const EnergyModel& model, const Measurements& all,
                                 const ModelChoice& models, std::vector<Spread>* spreads = nullptr);

// "irene/device_1: gpt2 8x32 h.0.attn (line 12)"
std::string PlaceOf(const Dataset& data, const ModelRun& run, NodeId node);

}  // namespace beryl::learn
