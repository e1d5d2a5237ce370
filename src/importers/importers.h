// Operation traces in. The format is recognised from the content, never from the name.
//
// A new format is one file that implements Importer, one line in the table in importers.cc, one
// page in docs/importers, one golden case and one fuzzer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "types/op_trace.h"

namespace beryl::importers {

struct ImportOptions {
  std::string format = "auto";  // or the name of a format
  std::string rank;             // of a distributed run; empty: as the file says, if it does
  int threads = 1;
  std::function<void(uint64_t file_bytes)> progress;
};

struct FormatDescriptor {
  std::string_view name;   // "tensorflow-timeline"
  std::string_view what;   // one line for people
  std::string_view clock;  // what its times are counted from
};

// Every format that can be read.
std::vector<FormatDescriptor> Formats();

// Reads a trace and adds it to `trace`: several files are one run, and a file that tells no steps
// apart is one step of it. Adds one ImportReport. Bad data is counted there, with byte offsets; an
// Error is a file that cannot be read at all, or that is in no known format.
Result<bool> Import(ByteSource& source, const ImportOptions& options, OpTrace& trace);

}  // namespace beryl::importers
