#include "flows/find_meters.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace beryl::flows {
namespace {

std::vector<Note> NotesOf(const SourceReport& report, const sources::Discovery& discovery) {
  const std::vector<PowerChannel>& read = discovery.channels;
  std::vector<Note> notes;
  // A counter that stands still may move later; the recording will show it.
  const bool estimated = std::any_of(read.begin(), read.end(), [&](const PowerChannel& channel) {
    return channel.meter.origin == Origin::kEstimated &&
           std::none_of(read.begin(), read.end(), [&](const PowerChannel& other) {
             return other.name == channel.meter.within;
           });
  });
  if (estimated) {
    std::vector<std::string> refused;
    for (const RefusedSource& source : report.refused) refused.push_back(source.source);
    notes.push_back({NoteKind::kCpusEstimated, "", {fmt::format("{}", fmt::join(refused, ", "))}});
  }
  AppendNotes(notes, discovery.notes);
  for (const SourceCheck& check : report.checks) {
    if (check.verdict == SourceCheck::Verdict::kBad &&
        check.about == SourceCheck::About::kAgreement) {
      notes.push_back({NoteKind::kCheckFailed, check.what, {check.detail}});
    }
  }
  return notes;
}

}  // namespace

Result<FoundMeters> FindMeters(const sources::Machine& machine,
                               const sources::DiscoverOptions& options, Nanos patience) {
  FoundMeters found;
  found.discovery = TRY(sources::Discover(machine, options));
  found.report = sources::Probe(machine, options, found.discovery, patience);
  found.notes = NotesOf(found.report, found.discovery);
  return found;
}

Result<FoundMeters> FindReadableMeters(const sources::Machine& machine,
                                       const sources::DiscoverOptions& options) {
  auto found = TRY(FindMeters(machine, options));
  if (found.discovery.channels.empty()) {
    return InvalidError(
        "no meter can be read, and an estimate is not possible either; beryl sources shows why");
  }
  return found;
}

}  // namespace beryl::flows
