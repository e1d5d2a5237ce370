// IrEne's equation 1: one linear regressor for each ML primitive, by ordinary least squares on
// standardised features.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "learn/fit/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// The features of a row in the order of `features`.
std::vector<double> Pick(const FeatureRow& row, const std::vector<Feature>& features);

// Mean and population standard deviation of the rows' features, each row weighted by its number of
// nodes. Constant features have scale 1.
Standard StandardOf(const Measurements& all, const std::vector<uint32_t>& rows,
                    const std::vector<Feature>& features);

// Keyed by type in lower case, fitted to the rows in `rows` that are primitives with energy. If
// features are collinear, it returns the best fit with the smallest weights.
std::map<std::string, PrimitiveRegressor> FitPrimitives(const Measurements& all,
                                                        const std::vector<uint32_t>& rows,
                                                        const std::vector<Feature>& features);

double Apply(const PrimitiveRegressor& regressor, const std::vector<double>& features);

}  // namespace beryl::learn
