// Laws for every trace that an importer accepts, whatever the bytes.
#pragma once

#include <string_view>

#include "importers/importers.h"
#include "require.h"
#include "types/op_trace.h"

namespace beryl::fuzz {

inline void RequireTraceLaws(const OpTrace& trace) {
  uint64_t operations = 0;
  for (const ImportReport& report : trace.reports) {
    uint64_t accounted = report.operations;
    for (const Note& note : report.notes) {
      // These are about the file, not about an event.
      const bool of_file = note.kind == NoteKind::kFileCutShort ||
                           note.kind == NoteKind::kFileDamaged ||
                           ClassOf(note.kind) == NoteClass::kTold;
      if (ClassOf(note.kind) != NoteClass::kRepaired && !of_file) accounted += note.count;
    }
    Require(report.events == accounted, "events = operations + dropped + skipped");
    Require(report.tied <= report.device_events, "no more tied than device events");
    operations += report.operations;
  }
  Require(trace.ops.size() == operations, "reports count every operation");
  for (const Op& op : trace.ops) {
    Require(op.start <= op.end, "an operation ends after it starts");
    Require(op.kind < trace.kinds.size(), "an operation's kind exists");
    Require(op.device < trace.devices.size(), "an operation's device exists");
    Require(op.step == kNoStep || op.step < trace.steps.size(), "an operation's step exists");
  }
  for (const OpKind& kind : trace.kinds) {
    Require(kind.rank < trace.ranks.size(), "a kind's rank exists");
    Require(kind.path < trace.paths.size() && kind.scope < trace.paths.size(), "paths exist");
    Require(kind.op < trace.strings.size() && kind.type < trace.strings.size() &&
                kind.shapes < trace.strings.size(),
            "strings exist");
  }
  for (size_t i = 0; i < trace.dataflow.size(); ++i) {
    const Dataflow& arrow = trace.dataflow[i];
    Require(arrow.from < trace.kinds.size() && arrow.to < trace.kinds.size(),
            "dataflow leads from a kind to a kind");
    Require(i == 0 || trace.dataflow[i - 1] < arrow, "dataflow is sorted, each arrow once");
  }
  for (PathId id = 1; id < trace.paths.size(); ++id) {
    Require(trace.paths[id].parent < id, "parents come before their children");
  }
}

// Imports `bytes` and checks the laws.
inline void ImportAndCheck(std::string_view bytes, std::string_view format) {
  importers::ImportOptions options;
  options.format = format;
  ByteSource source = ByteSource::FromMemory(bytes, "fuzz");
  OpTrace trace;
  auto ok = importers::Import(source, options, trace);
  if (ok) {
    RequireTraceLaws(trace);
  } else {
    Require(!ok.error().message.empty(), "an error says what went wrong");
  }
}

}  // namespace beryl::fuzz
