// One fit and its predictions, without intervals. Training and evaluation are built on it.
#pragma once

#include <vector>

#include "base/result.h"
#include "learn/fit/intervals.h"
#include "learn/fit/measurements.h"
#include "learn/train.h"

namespace beryl::learn {

// Fails if the method cannot learn from data with these features. The error says what is missing
// and what to do.
Status CheckMethod(Method method, FeatureSet set, const std::vector<Feature>& known);

// Learns from the chosen models. `known`: features that all data has, including the data to be
// predicted.
Result<EnergyModel> Fit(const Measurements& all, const ModelChoice& models,
                        const std::vector<Feature>& known, const TrainOptions& options);

// Joules by node of the chosen models; NaN: another model, or no prediction is possible.
// `uncertainties` receives the uncertainty of each prediction if the method estimates it; else it
// stays empty.
std::vector<double> PredictNodes(const EnergyModel& model, const Measurements& all,
                                 const ModelChoice& models,
                                 std::vector<Uncertainty>* uncertainties = nullptr);

// "irene/device_1: gpt2 8x32 h.0.attn (line 12)"
std::string PlaceOf(const Dataset& data, const ModelRun& run, NodeId node);

}  // namespace beryl::learn
