// IrEne's equation 1: one linear regressor for each ML primitive, by ordinary least squares on
// standardised features.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "learn/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// The features of a row in the order of `features`.
std::vector<double> Pick(const FeatureRow& row, const std::vector<Feature>& features);

// Mean and population deviation of the rows' features, each row as often as there are nodes of it.
// What does not vary has scale 1.
Standard StandardOf(const Measurements& all, const std::vector<uint32_t>& rows,
                    const std::vector<Feature>& features);

// By type in lower case; from rows of primitives with energy among `rows`. Where features are
// collinear, of all best fits the one with the smallest weights.
std::map<std::string, PrimitiveRegressor> FitPrimitives(const Measurements& all,
                                                        const std::vector<uint32_t>& rows,
                                                        const std::vector<Feature>& features);

double Apply(const PrimitiveRegressor& regressor, const std::vector<double>& features);

}  // namespace beryl::learn
