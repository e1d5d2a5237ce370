// What the formats of other tools show of a run.
#pragma once

#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "flows/account_run.h"
#include "types/exported_run.h"

namespace beryl::flows {

// `report`: of the run, with its whole tree.
ExportedRun ExportOf(const AccountedRun& run, AccountReport report, const ExportNeeds& needs);

// The run's operation traces, to be exported together with its power. Fails if they are not there
// (a run file has none), if not all are on the same clock, or if one is in another format than the
// JSON that trace viewers open.
Result<std::vector<ExportedTrace>> TracesToBundle(const AccountedRun& run);

// Writes the user's own XPlane file with the energy of each operation's event in it; all else stays
// as it is. The run must have been read with `RunOptions::import.event_offsets`, from this one
// file. `description` says what the energy is.
Status WriteXPlaneEnergy(const AccountedRun& run, const RunOptions& options,
                         std::string_view description, GrowingFile& file);

}  // namespace beryl::flows
