// For the tests of all importers: reads a trace from a string and inspects the result.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/matchers_for_test.h"
#include "importers/importers.h"
#include "types/op_trace.h"

namespace beryl::importers {

inline uint64_t CountOf(const ImportReport& report, NoteClass note_class) {
  uint64_t count = 0;
  for (const Note& note : report.notes) {
    // These are about the file, not about an event.
    const bool of_file =
        note.kind == NoteKind::kFileCutShort || note.kind == NoteKind::kFileDamaged;
    if (ClassOf(note.kind) == note_class && !of_file) count += note.count;
  }
  return count;
}

// Whether it tells how to record modules.
inline bool SaysNoModules(const ImportReport& report) {
  return std::find(report.notes.begin(), report.notes.end(), Note(NoteKind::kNoModules)) !=
         report.notes.end();
}

// The law of the report: nothing disappears without a reason.
inline void ExpectEventsAddUp(const ImportReport& report) {
  EXPECT_EQ(report.events, report.operations + CountOf(report, NoteClass::kDropped) +
                               CountOf(report, NoteClass::kSkipped));
  EXPECT_LE(report.tied, report.device_events);
  EXPECT_LE(report.with_correlation, report.device_events);
}

// "missing_ph x count @ first byte" of the notes of one class.
inline std::vector<std::string> Notes(const ImportReport& report, NoteClass note_class) {
  std::vector<std::string> texts;
  for (const Note& note : report.notes) {
    if (ClassOf(note.kind) != note_class) continue;
    texts.push_back(fmt::format("{} x{} @{}", PlainText(note), note.count, *note.first_byte));
  }
  return texts;
}

struct Imported {
  OpTrace trace;
  std::string error;

  const ImportReport& report() const { return trace.reports.back(); }
  const OpKind& kind(const Op& op) const { return trace.kinds[op.kind]; }

  // "qualified name phase device [start,end)" in nanoseconds, in the trace's order.
  std::vector<std::string> Ops() const {
    std::vector<std::string> texts;
    for (const Op& op : trace.ops) {
      texts.push_back(fmt::format("{} {} {} [{},{})", trace.QualifiedName(kind(op)),
                                  PhaseName(kind(op).phase), trace.devices[op.device],
                                  op.start.value, op.end.value));
    }
    return texts;
  }
  // Qualified names only.
  std::vector<std::string> Names() const {
    std::vector<std::string> texts;
    for (const Op& op : trace.ops) texts.push_back(trace.QualifiedName(kind(op)));
    return texts;
  }
  // The first operation with this qualified name.
  const Op& Find(std::string_view qualified_name) const {
    static const Op kMissing;
    for (const Op& op : trace.ops) {
      if (trace.QualifiedName(kind(op)) == qualified_name) return op;
    }
    ADD_FAILURE() << "no operation " << qualified_name;
    return kMissing;
  }
  Phase PhaseOf(std::string_view qualified_name) const { return kind(Find(qualified_name)).phase; }
  std::string PathOf(std::string_view qualified_name) const {
    return trace.PathText(kind(Find(qualified_name)).path);
  }
};

inline Imported ImportText(std::string_view text, ImportOptions options = {}) {
  Imported imported;
  ByteSource source = ByteSource::FromMemory(text, "trace");
  auto ok = Import(source, options, imported.trace);
  if (!ok) {
    imported.error = ok.error().message;
    return imported;
  }
  ExpectEventsAddUp(imported.report());
  for (const Op& op : imported.trace.ops) {
    EXPECT_LE(op.start, op.end);
    EXPECT_LT(op.kind, imported.trace.kinds.size());
    EXPECT_LT(op.device, imported.trace.devices.size());
    EXPECT_TRUE(op.step == kNoStep || op.step < imported.trace.steps.size());
  }
  return imported;
}

}  // namespace beryl::importers
