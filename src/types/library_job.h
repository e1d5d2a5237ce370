// A job of a library: work that outlives the request for it, and the server that does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "types/library_entry.h"

namespace beryl {

enum class JobState : uint8_t { kQueued, kRunning, kDone, kFailed, kCancelled };
inline constexpr int kJobStateCount = 5;
std::string_view JobStateName(
    JobState state);  // "queued", "running", "done", "failed", "cancelled"
std::optional<JobState> FindJobState(std::string_view name);
constexpr bool HasEnded(JobState state) { return state >= JobState::kDone; }

struct JobProgress {
  uint64_t done = 0;
  uint64_t total = 0;  // 0: unknown
  std::string text;    // what it does now
};

// An entry that a job added to its library, or found there.
struct JobEntry {
  EntryKind kind = EntryKind::kRun;
  std::string id;

  bool operator==(const JobEntry&) const = default;
};

struct LibraryJob {
  std::string id;       // as of an entry
  std::string kind;     // what to do; the caller's word
  std::string request;  // a JSON object
  JobState state = JobState::kQueued;
  JobProgress progress;
  // What it needs, and once it is done its results (FileRole::kResult).
  std::vector<EntryFile> files;
  std::vector<JobEntry> entries;  // that it made
  std::string error;              // of a failed job, a JSON object
  Nanos created;
  std::optional<Nanos> started;  // the last time
  std::optional<Nanos> finished;
  uint32_t attempts = 0;  // how often it was started
  bool cancel_requested = false;
  std::string owner;  // who runs it, such as "host:123"
  int64_t last_event = 0;
};

// Something that happened to a job. Ids of a job's events count from 1, without gaps.
struct JobEvent {
  int64_t id = 0;
  Nanos time;
  std::string name;  // "queued", "running", "progress", "done", "failed", "cancelled"
  std::string body;  // a JSON object: {"done":3,"total":10,"text":"..."}; of "failed" the error
};

struct JobFilter {
  std::optional<JobState> state = {};
  std::string kind = {};  // empty: any
};

struct JobPage {
  std::vector<LibraryJob> jobs;
  std::string next_token;  // empty: nothing follows
};

// A list of jobs as it is shown.
struct JobList {
  Provenance provenance;
  JobPage page;
};

}  // namespace beryl
