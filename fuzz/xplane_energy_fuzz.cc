#include <cstddef>
#include <cstdint>
#include <string>

#include "import_laws.h"

namespace {

using beryl::ByteSource;
using beryl::OpTrace;
using beryl::fuzz::Require;

beryl::Status Read(std::string_view bytes, OpTrace& trace, std::vector<uint64_t>& offsets) {
  ByteSource source = ByteSource::FromMemory(bytes, "fuzz");
  beryl::importers::ImportOptions options;
  options.format = "xplane";
  options.event_offsets = &offsets;
  return beryl::importers::Import(source, options, trace);
}

}  // namespace

// A copy with energy in it has the same operations, and is refused or whole.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  OpTrace trace;
  std::vector<uint64_t> offsets;
  if (!Read(text, trace, offsets)) return 0;
  Require(offsets.size() == trace.ops.size(), "every operation has its event");
  std::vector<beryl::importers::EventEnergy> energies;
  for (const uint64_t offset : offsets) energies.push_back({offset, 1.5});
  ByteSource first = ByteSource::FromMemory(text, "fuzz");
  const auto splice =
      beryl::importers::PlanXPlaneEnergy(first, trace.reports.front(), energies, "fuzzed");
  if (!splice) return 0;
  ByteSource again = ByteSource::FromMemory(text, "fuzz");
  std::string copy;
  const auto copied = splice->Copy(again, [&](std::string_view piece) -> beryl::Status {
    copy += piece;
    return {};
  });
  Require(copied.has_value(), "what was planned can be done");
  OpTrace same;
  std::vector<uint64_t> moved;
  Require(Read(copy, same, moved).has_value(), "the copy can be read");
  Require(same.ops.size() == trace.ops.size(), "no operation is lost");
  for (size_t op = 0; op < same.ops.size(); ++op) {
    Require(same.ops[op].start == trace.ops[op].start && same.ops[op].end == trace.ops[op].end,
            "operations stay where they were");
    Require(moved[op] >= offsets[op], "events only move back");
  }
  return 0;
}
