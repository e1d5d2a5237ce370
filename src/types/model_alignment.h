// ModelAlignment: how far the modules of a run are those of a model's description.
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
  std::optional<double> passes;
  // Of everything inside of modules, and of that inside of those that matched. Nothing: no energy
  // is known.
  std::optional<Joules> module_energy;
  std::optional<Joules> matched_energy;
  // Modules of the run that the description does not have, with what they took beside their own
  // modules; the largest first. With `matched_energy` they add up to `module_energy`.
  struct Unmatched {
    std::string path;
    std::optional<Joules> energy;
  };
  std::vector<Unmatched> unmatched;
  std::vector<Note> notes;  // of the description and of what was predicted, too
};

}  // namespace beryl
