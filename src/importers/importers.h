// Reads operation traces. The format is recognised from the content, never from the name.
//
// A new format is one file that implements Importer and one line in importer_table.inc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/splice.h"
#include "types/op_trace.h"

namespace beryl::importers {

struct ImportOptions {
  std::string format = "auto";  // or the name of a format
  std::string rank;             // of a distributed run; empty: from the file, if it states one
  int threads = 1;
  std::function<void(uint64_t file_bytes)> progress;
  // Receives the byte at which each operation's event starts, in the order of the operations. Only
  // of XPlane.
  std::vector<uint64_t>* event_offsets = nullptr;
};

struct FormatDescriptor {
  std::string_view name;   // "tensorflow-timeline"
  std::string_view what;   // one line for people
  std::string_view clock;  // the origin of its times
};

// All supported formats.
std::vector<FormatDescriptor> Formats();

// Reads a trace and adds it to `trace`: several files are one run, and a file without steps is one
// step of it. Adds one ImportReport. Bad data is counted there, with byte offsets; an Error is a
// file that cannot be read at all, or that is in no known format.
Status Import(ByteSource& source, const ImportOptions& options, OpTrace& trace);

// The energy of an operation whose event starts at that byte.
struct EventEnergy {
  uint64_t offset = 0;
  double energy_j = 0;
};

// The changes that write energies into an XPlane file, as the stat that XProf shows. `report` is of
// reading that file, `description` says what the energies are. Fails if the file has that stat
// already, and if it is damaged: a message that leads out of another reads differently once bytes
// are put behind it.
Result<Splice> PlanXPlaneEnergy(ByteSource& source, const ImportReport& report,
                                std::vector<EventEnergy> energies, std::string_view description);

}  // namespace beryl::importers
