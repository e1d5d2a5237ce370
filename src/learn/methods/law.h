// The law: energy is the device's own energy, times the losses on the way to it, plus the power of
// everything else times the duration.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/fit/measurements.h"
#include "types/energy_model.h"

namespace beryl::learn {

// The terms that the available features allow.
struct LawTerms {
  bool gpu_energy = false;
  bool cpu_energy = false;
  bool busy = false;  // CPU utilisation is known, and the CPU has no counter of its own

  // The number of terms that need data. The busy term is not one of them, because it has a prior.
  size_t needed() const { return size_t{1} + (gpu_energy ? 1 : 0) + (cpu_energy ? 1 : 0); }
};
LawTerms TermsOf(const std::vector<Feature>& known);
std::vector<Feature> FeaturesOf(const LawTerms& terms);

// Minimises relative error, close to least absolute deviations; each distinct measurement counts
// once. `rows` are indices into all.rows of measurements with energy and all features that the
// terms need. There must be at least terms.needed() rows.
EnergyLaw FitLaw(const Measurements& all, const std::vector<uint32_t>& rows, const LawTerms& terms);

// Joules; NaN if a feature that the law needs is unknown.
double Apply(const EnergyLaw& law, const FeatureRow& features);
// Standard deviation of Apply() that the data left open: the power of a busy CPU.
double Doubt(const EnergyLaw& law, const FeatureRow& features);

}  // namespace beryl::learn
