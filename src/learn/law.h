// The law: energy is the device's own energy, times what is lost on the way to it, and the power of
// everything else for as long as it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// Which terms the features allow.
struct LawTerms {
  bool gpu_energy = false;
  bool cpu_energy = false;
  bool busy = false;  // CPU utilisation is known, and the CPU has no counter of its own

  // Those that have to come from data; the busy term has a prior that can stand in for it.
  size_t needed() const { return size_t{1} + (gpu_energy ? 1 : 0) + (cpu_energy ? 1 : 0); }
};
LawTerms TermsOf(const std::vector<Feature>& known);
std::vector<Feature> FeaturesOf(const LawTerms& terms);

// Fits to relative error, close to least absolute deviation, each measurement once. `rows` are
// indices into all.rows of measurements with energy and everything the terms need; there have to be
// at least as many as terms.needed().
EnergyLaw FitLaw(const Measurements& all, const std::vector<uint32_t>& rows, const LawTerms& terms);

// Joules; NaN where a feature it needs is not known.
double Apply(const EnergyLaw& law, const FeatureRow& features);
// Standard deviation of that by what the data left open: how much power a busy CPU takes.
double Doubt(const EnergyLaw& law, const FeatureRow& features);

}  // namespace beryl::learn
