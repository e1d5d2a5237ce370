// Jobs of a library: doing one to its end, and showing them.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/work_watch.h"
#include "store/library.h"
#include "types/library_entry.h"
#include "types/library_job.h"

namespace beryl::flows {

// What a job has made.
struct JobOutcome {
  std::vector<EntryFile> results;     // kept already
  std::vector<LibraryEntry> entries;  // to be added when the job ends
};

// What is to be done for a job.
struct JobTask {
  std::string text;  // what it does, for those who wait
  // Tells the watch how far it is, and ends soon with any result once that says so.
  std::function<Result<JobOutcome>(WorkWatch&)> run;
};

// Does a job that was claimed here. `task`, or why there is none: then the job fails. Its progress
// is reported every `pace`, at least three times per lease. The job ends as done, failed or
// cancelled, unless `ending` asks to stop: then the library has it back at once, for the next
// server. What the task throws fails the job. An Error is one of the library, which then gives the
// job to another server after a while; that somebody else has the job already is none.
Status RunJob(store::Library& library, const LibraryJob& job, const Result<JobTask>& task,
              const std::stop_token& ending,
              std::chrono::milliseconds pace = std::chrono::seconds(1));

// {"detail": "...", "errors": [{"parameter": "...", "detail": "..."}]}, as a failed job has it.
std::string JobError(const Error& error);

// A result to be shown: one file of JSON.
Result<JobOutcome> JsonOutcome(store::Library& library, const std::string& name,
                               std::string_view text);

// Jobs with provenance, the newest first.
Result<JobList> ListJobs(store::Library& library, const JobFilter& filter, const PageRequest& page);

}  // namespace beryl::flows
