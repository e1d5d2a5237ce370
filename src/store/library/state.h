// What a library consists of, for the files that implement it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/library.h"
#include "store/library/database.h"
#include "store/library/file_folder.h"
#include "store/library/folder_lock.h"

namespace beryl::store {

// The state that a job goes to; nothing: it stays as it is.
using NextState = std::optional<JobState>;

struct Library::State {
  FolderLock lock;  // released last
  std::string name;
  bool is_shared = false;
  LibraryOptions options;
  std::string owner;  // of the jobs that run here
  // In a folder the files themselves; of a shared library copies.
  FileFolder files;
  std::unique_ptr<Database> database;
  // Held while a file and its row come or go together.
  std::mutex files_mutex{};
  // Bytes of files on their way.
  std::atomic<uint64_t> in_flight = 0;

  // Gives back the jobs of a process that was killed.
  Status GiveBackAllJobs();
  Status CheckRunsHere(const LibraryJob& job) const;
  // Loads a job, lets `change` say what becomes of it, and writes its new state.
  using JobChange = std::function<Result<NextState>(Session&, LibraryJob&)>;
  Result<LibraryJob> ChangeJob(const std::string& id, const JobChange& change);
};

// Bytes of all files.
Result<uint64_t> StoredBytes(Session& session);

// The files of an entry or a job. AddFiles fails with kNotFound if one was never kept.
Status AddFiles(Database& database, Session& session, const std::string& owner,
                const std::vector<EntryFile>& files);
// By owner, in their order; calls take(owner, file).
Status ReadFiles(Session& session, const std::vector<std::string>& owners,
                 const std::function<void(const std::string&, EntryFile)>& take);
// What Library::Add does before it changes something, and within a change.
Result<LibraryEntry> EntryToAdd(LibraryEntry entry);
Result<AddedEntry> AddEntry(Database& database, Session& session, const std::string& library,
                            LibraryEntry entry);
// Reads a stored file's bytes from the rows of a shared library.
Status ReadChunks(Session& session, const std::string& digest,
                  const std::function<Status(std::string_view)>& take);

// Text from outside as it is stored: one that every database takes.
std::string StoredText(std::string_view text);

// The same for a JSON object; a text that is none is kMisuse. `what` is for the message.
Result<std::string> StoredJson(std::string text, std::string_view what);

// A page of rows: where it starts, and `size` limited to what is allowed.
Status CheckPage(const PageRequest& request);

}  // namespace beryl::store
