// What a library keeps: runs, predictions, profiles and data sets, each an entry with its files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "types/origin.h"
#include "types/provenance.h"

namespace beryl {

enum class EntryKind : uint8_t { kRun, kPrediction, kProfile, kDataset };
inline constexpr int kEntryKindCount = 4;
std::string_view EntryKindName(EntryKind kind);  // "run", "prediction", "profile", "dataset"
std::optional<EntryKind> FindEntryKind(std::string_view name);

// What a run was given as.
enum class RunForm : uint8_t {
  kRunFile,    // operations and power in one file
  kRecording,  // power and who used the machine, without operations
  kTraces,     // operation traces, with power if there is any
};
inline constexpr int kRunFormCount = 3;
std::string_view RunFormName(RunForm form);  // "run-file", "recording", "traces"
std::optional<RunForm> FindRunForm(std::string_view name);

enum class FileRole : uint8_t {
  kRun,     // a run file, or a recording
  kOps,     // an operation trace
  kPower,   // a power trace
  kResult,  // of a prediction or a job
  kOther,   // a profile, a part of a data set, ...
};
inline constexpr int kFileRoleCount = 5;
std::string_view FileRoleName(FileRole role);  // "run", "ops", "power", "result", "other"
std::optional<FileRole> FindFileRole(std::string_view name);

// Bytes, named by what they are.
struct StoredFile {
  std::string digest;  // SHA-256 in 64 lower-case hex digits
  uint64_t bytes = 0;

  auto operator<=>(const StoredFile&) const = default;
};
bool IsDigest(std::string_view text);
// Whether an entry or a job could have this id.
bool IsLibraryId(std::string_view text);

// A file that was added, kept unchanged.
struct EntryFile {
  StoredFile stored = {};
  std::string name = {};  // as it was given, such as "trace.json.gz"
  FileRole role = FileRole::kOther;
  std::string rank = {};  // of a run with ranks
  std::string media_type = {};

  bool operator==(const EntryFile&) const = default;
};

// The figures of an entry that lists show and sort by: member, and name in JSON, CSV and SQL.
// Nothing: unknown, or the entry has no such figure.
#define BERYL_ENTRY_FIGURES(FIGURE)                                       \
  FIGURE(energy_j) /* of the run, or predicted; ours, if that is known */ \
  FIGURE(low_j)    /* its interval */                                     \
  FIGURE(high_j)                                                          \
  FIGURE(machine_j) /* of the whole machine */                            \
  FIGURE(duration_s)                                                      \
  FIGURE(per_step_j) /* or round */                                       \
  FIGURE(per_query_j)                                                     \
  FIGURE(per_token_j)                                                     \
  FIGURE(parameters)                                                      \
  FIGURE(operations)                                                      \
  FIGURE(readings)                                                        \
  FIGURE(accuracy) /* as the user gives it */

struct EntryFigures {
#define BERYL_ENTRY_FIGURE(name) std::optional<double> name = {};
  BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE

  bool operator==(const EntryFigures&) const = default;
};

struct LibraryEntry {
  std::string id;  // 16 letters and digits, given by the library, never changed
  EntryKind kind = EntryKind::kRun;
  std::optional<RunForm> form;  // of a run
  std::string name;
  std::vector<std::string> tags;  // sorted, each once
  std::string notes;              // text of the user
  Nanos created;                  // when it was added, since 1970
  std::string model;              // empty: unknown, as in the next two
  std::string machine;            // that it ran on, or is predicted for
  std::string profile;            // that predicted
  std::string request;            // what a prediction was asked for, a JSON object; empty: nothing
  std::optional<Origin> origin;   // of its energy
  EntryFigures figures;
  std::vector<EntryFile> files;

  uint64_t bytes() const;  // of its files together

  bool operator==(const LibraryEntry&) const = default;
};

// What to change; nothing: stays as it is.
struct EntryPatch {
  std::optional<std::string> name = {};
  std::optional<std::vector<std::string>> tags = {};
  std::optional<std::string> notes = {};
  std::optional<std::string> model = {};
  std::optional<double> accuracy = {};  // NaN: becomes unknown
};

// Which entries to list. What is empty or nothing does not matter.
struct EntryFilter {
  std::optional<EntryKind> kind = {};
  std::optional<RunForm> form = {};
  std::vector<std::string> tags = {};  // all of them
  std::string model = {};
  std::string machine = {};
  std::string profile = {};
  // Anywhere in name, tags, notes, model, machine or profile; the case of ASCII does not matter.
  std::string text = {};
  std::optional<Nanos> since = {};  // added then or later
  std::optional<Nanos> until = {};  // added before
};

// A part of a list, the newest first.
struct PageRequest {
  int size = 100;          // 1 to 1000
  std::string token = {};  // of the page before; empty: the first page
};

struct EntryPage {
  std::vector<LibraryEntry> entries;
  std::string next_token;  // empty: nothing follows
};

// A list of entries as it is shown.
struct EntryList {
  Provenance provenance;
  EntryPage page;
};

struct LibraryCounts {
  uint64_t runs = 0;
  uint64_t predictions = 0;
  uint64_t profiles = 0;
  uint64_t datasets = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t queued = 0;  // jobs, by state
  uint64_t running = 0;
  uint64_t done = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
};

// What removing of files that nothing names has freed.
struct LibraryGarbage {
  Provenance provenance;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t jobs = 0;        // that ended long ago
  uint64_t kept_files = 0;  // that nothing names either, but too young
  uint64_t kept_bytes = 0;
};

// Something wrong with a library.
struct LibraryProblem {
  enum class Kind : uint8_t {
    kDatabase,  // the database finds itself damaged
    kMissing,   // a file is named, but not there
    kSize,      // a file has another size than its row says
    kContent,   // a file has other content than its name says
    kUnread,    // a file could not be read
    kDangling,  // a row belongs to nothing
  };
  Kind kind = Kind::kDatabase;
  std::string subject;  // an id or a digest
  std::string detail;
};

struct LibraryCheck {
  Provenance provenance;
  LibraryCounts counts;
  uint64_t unnamed_files = 0;  // not a problem: garbage to collect
  uint64_t unnamed_bytes = 0;
  std::vector<LibraryProblem> problems;
};

}  // namespace beryl
