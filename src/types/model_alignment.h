// ModelAlignment: how well the modules of a run match those of a model's description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/description.h"
#include "types/note.h"

namespace beryl {

struct ModelAlignment {
  std::string model;              // as requested
  ModelInput input;               // of the description
  bool input_seen = false;        // derived from the run's shapes; otherwise given or assumed
  Dtype dtype = Dtype::kFloat32;  // of the description
  bool dtype_seen = false;        // derived from the run's matrix products
  // Modules that run and do something, and how many of them the run has.
  uint64_t described_modules = 0;
  uint64_t matched_modules = 0;
  std::vector<std::string> not_found;  // scopes of the missing ones
  // Scopes of modules whose weights have other sizes in the run.
  std::vector<std::string> other_sizes;
  // How often the model ran forward; for a generation, the number of generations.
  std::optional<double> passes;
  // Energy of everything inside modules, and of everything inside matched modules. Nothing: no
  // energy is known.
  std::optional<Joules> module_energy;
  std::optional<Joules> matched_energy;
  // Modules of the run that the description lacks, with their energy outside of their own modules;
  // the largest first. Together with `matched_energy` they add up to `module_energy`.
  struct Unmatched {
    std::string path;
    std::optional<Joules> energy;
  };
  std::vector<Unmatched> unmatched;
  std::vector<Note> notes;  // of the description and of the prediction, too
};

}  // namespace beryl
