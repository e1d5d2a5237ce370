// Finds what a user names: a model by its configuration, a machine by its profile.
#pragma once

#include <string>

#include "base/result.h"
#include "models/models.h"
#include "types/energy_model.h"

namespace beryl::flows {

// The configuration of a model: an existing file or folder, "-" for standard input, otherwise an
// entry of the catalog.
Result<models::ModelConfig> ReadConfig(const std::string& model);

// A profile that ships with the program. The error lists similar names.
Result<EnergyModel> FindProfile(const std::string& profile);
// The same, otherwise a file that `beryl train` wrote. The error lists
// the known names.
Result<EnergyModel> ReadProfile(const std::string& profile);
// The content of a file that ReadProfile reads.
std::string WriteProfile(const EnergyModel& model);

}  // namespace beryl::flows
