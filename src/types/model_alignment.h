// ModelAlignment: how far the modules of a run are those of a model's description.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/description.h"
#include "types/note.h"
#include "types/unknown.h"

namespace beryl {

struct ModelAlignment {
  std::string model;        // as it was asked for
  ModelInput input;         // that was described
  bool input_seen = false;  // read off the run's shapes; else as given or assumed
  // Modules that run and do something, and those of them that the run has.
  uint64_t described_modules = 0;
  uint64_t matched_modules = 0;
  std::vector<std::string> not_found;  // scopes of the others
  // Scopes of those that the run has with weights of other sizes.
  std::vector<std::string> other_sizes;
  // How often the model ran forward; of a generation, how many of them there were.
  double passes = kUnknown;
  // Of everything inside of modules, and of that inside of those that matched. NaN: no energy is
  // known.
  double module_energy_j = kUnknown;
  double matched_energy_j = kUnknown;
  // Modules of the run that the description does not have, with what they took beside their own
  // modules; the largest first. With `matched_energy_j` they add up to `module_energy_j`.
  struct Unmatched {
    std::string path;
    double energy_j = kUnknown;
  };
  std::vector<Unmatched> unmatched;
  std::vector<Note> notes;  // of the description and of what was predicted, too
};

}  // namespace beryl
