// The library: runs, predictions, profiles, data sets and jobs, in a folder (SQLite, one process at
// a time) or in a PostgreSQL database that several servers share. docs/library.md is for its users,
// docs/design/0008-library.md has the reasons.
//
// What a call has returned as done survives a kill and a loss of power; what it has not returned is
// there wholly or not at all. Every call may be made from any thread. Calls that change something
// wait for each other (in a folder), calls that read do not.
//
// Errors: kNotFound, there is no such entry, job or file; kMisuse, a page token is of another list
// or the request makes no sense; kTooMuch, the limit of stored bytes is reached; kNotNow, the state
// does not allow it, or another process has the folder; kIo, the disk or the database refuses;
// kInvalid, it is not a library, or one of a later version.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/library_entry.h"
#include "types/library_job.h"

namespace beryl::store {

struct LibraryOptions {
  // Bytes of files that it may hold; 0: as many as fit.
  uint64_t most_bytes = 0;
  // How long a job stays with a server that says nothing of it. Only if several servers share it.
  std::chrono::seconds lease{60};
  // Nothing will be changed. If another process has the folder, it is read beside it.
  bool read_only = false;
  // Where files of a shared library are kept once they were read; empty: beryl/library in
  // $XDG_CACHE_HOME or ~/.cache.
  std::string cache = {};
};

// A file on its way into the library. Its bytes are written to disk as they come and never kept in
// memory; unless Keep is called, nothing is left of it, however the program ends. For one thread at
// a time. The library must outlive it.
class FileIntake {
 public:
  FileIntake(FileIntake&&) noexcept;
  FileIntake& operator=(FileIntake&&) noexcept;
  ~FileIntake();

  // kTooMuch, if the library would hold more than it may.
  Status Write(std::string_view bytes);
  uint64_t bytes() const;
  // Ends it. An entry or a job can name the file from now on; if none does, CollectGarbage takes it
  // after a while. Call once.
  Result<StoredFile> Keep();

 private:
  friend class Library;
  struct State;
  explicit FileIntake(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// An entry, and whether it is new: content that is there already is not added again.
struct AddedEntry {
  LibraryEntry entry;
  bool is_new = true;
};

// What garbage is old enough to go.
struct GarbageAges {
  std::chrono::seconds files{
      std::chrono::hours(1)};  // since they were kept; uploads in flight are younger
  std::chrono::seconds jobs{std::chrono::hours(24 * 30)};  // since they ended
};

class Library {
 public:
  // `where`: a folder, made if it is missing, or "postgresql://...". Brings a library of an earlier
  // version up to date, after a backup. Jobs that a killed process left in the folder are queued
  // again. It is kNotNow if another process has the folder; the message names it.
  static Result<std::unique_ptr<Library>> Open(const std::string& where,
                                               const LibraryOptions& options = {});
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // For messages; without a password.
  const std::string& name() const;
  // Whether several servers may share it: jobs may then come from elsewhere at any time.
  bool is_shared() const;

  // Files.
  Result<FileIntake> BeginFile();
  // A file that is in memory.
  Result<StoredFile> KeepFile(std::string_view bytes);
  // A file of that content, to be read, for at least an hour. In a shared library it is fetched
  // first, and checked.
  Result<std::string> PathOf(const std::string& digest);

  // Entries. Add gives an entry its id and time, unless it has them (from an export). Its files
  // must have been kept. Entries of the same kind with the same files (contents, roles and ranks)
  // are the same: Add then returns the one that is there, unchanged.
  Result<AddedEntry> Add(LibraryEntry entry);
  Result<LibraryEntry> Get(const std::string& id);
  // The newest first. What is added meanwhile never moves a later page: no entry comes twice, and
  // none is left out that was there from the first page to the last.
  Result<EntryPage> List(const EntryFilter& filter, const PageRequest& request);
  Result<LibraryEntry> Change(const std::string& id, const EntryPatch& patch);
  // Returns what was removed. Its files stay until CollectGarbage.
  Result<LibraryEntry> Remove(const std::string& id);

  // Jobs. `files`: what it needs, kept as long as the job is listed.
  Result<LibraryJob> Enqueue(const std::string& kind, const std::string& request,
                             const std::vector<EntryFile>& files = {});
  Result<LibraryJob> GetJob(const std::string& id);
  Result<JobPage> ListJobs(const JobFilter& filter, const PageRequest& request);
  // The oldest queued job, which runs here from now on; nothing if there is none. Also gives back
  // jobs whose server was not heard of for the lease; a job that was started three times and never
  // ended fails.
  Result<std::optional<LibraryJob>> ClaimJob();
  // For a job that runs here: it is still worked on. Returns whether someone asked to cancel it.
  // Call at least three times per lease. kNotNow: it does not run here any more; drop it.
  Result<bool> KeepJob(const std::string& id);
  // The same, with an event.
  Result<bool> ReportJob(const std::string& id, const JobProgress& progress);
  // A job that runs here ends; kNotNow as above. `made`: entries to add in the same moment, as Add
  // does.
  Result<LibraryJob> FinishJob(const std::string& id, const std::vector<EntryFile>& results,
                               std::vector<LibraryEntry> made = {});
  Result<LibraryJob> FailJob(const std::string& id, const std::string& error);
  Result<LibraryJob> EndCancelledJob(const std::string& id);
  // The server ends before the job: somebody else may claim it.
  Result<LibraryJob> GiveBackJob(const std::string& id);
  // Cancels a queued job, asks whoever runs a running one to stop, changes nothing of one that has
  // ended.
  Result<LibraryJob> CancelJob(const std::string& id);
  // Events with ids above `after`, at most 1000. Of a job's events the last 256 are kept.
  Result<std::vector<JobEvent>> EventsAfter(const std::string& id, int64_t after);

  // Upkeep.
  Result<LibraryCounts> Count();
  // Removes files that nothing names, jobs that ended long ago and, of a shared library, local
  // copies that were not read for a while. The caller adds provenance, as below.
  Result<LibraryGarbage> CollectGarbage(const GarbageAges& ages = {});
  // Compares rows, files, digests and sizes, and lets the database check itself. Reads every byte.
  // `watch` is called with the bytes read so far and in all.
  Result<LibraryCheck> Verify(const std::function<void(uint64_t done, uint64_t total)>& watch = {});

 private:
  friend class FileIntake;
  struct State;
  explicit Library(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace beryl::store
