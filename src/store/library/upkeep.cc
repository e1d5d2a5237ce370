// Counting, collecting garbage, and finding what is wrong.
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/sha256.h"
#include "store/library/state.h"

namespace beryl::store {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr const char* kUnnamed =
    "NOT EXISTS (SELECT 1 FROM file_use u WHERE u.digest = file.digest)";

struct FilesAndBytes {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

Result<FilesAndBytes> CountFiles(Session& session, const std::string& where,
                                 const SqlRow& parameters = {}) {
  const auto rows = TRY(session.Execute(
      "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM file WHERE " + where,
      parameters));
  return FilesAndBytes{static_cast<uint64_t>(WholeOf(rows.at(0).at(0))),
                       static_cast<uint64_t>(WholeOf(rows.at(0).at(1)))};
}

Result<LibraryCounts> CountAll(Session& session) {
  LibraryCounts counts;
  const std::map<std::string, uint64_t*> places = {
      {"run", &counts.runs},           {"prediction", &counts.predictions},
      {"profile", &counts.profiles},   {"dataset", &counts.datasets},
      {"queued", &counts.queued},      {"running", &counts.running},
      {"done", &counts.done},          {"failed", &counts.failed},
      {"cancelled", &counts.cancelled}};
  for (const char* sql : {"SELECT kind, COUNT(*) FROM entry GROUP BY kind",
                          "SELECT state, COUNT(*) FROM job GROUP BY state"}) {
    for (const SqlRow& row : TRY(session.Execute(sql))) {
      const auto place = places.find(TextOf(row[0]));
      if (place != places.end()) *place->second = static_cast<uint64_t>(WholeOf(row[1]));
    }
  }
  const auto files = TRY(CountFiles(session, "TRUE"));
  counts.files = files.files;
  counts.file_bytes = files.bytes;
  return counts;
}

Result<std::map<std::string, uint64_t>> AllFiles(Session& session) {
  std::map<std::string, uint64_t> files;
  for (const SqlRow& row : TRY(session.Execute("SELECT digest, bytes FROM file"))) {
    files[TextOf(row[0])] = static_cast<uint64_t>(WholeOf(row[1]));
  }
  return files;
}

// Rows that name nothing.
Status FindDangling(Session& session, std::vector<LibraryProblem>& problems) {
  struct Question {
    const char* sql;
    const char* detail;
  };
  constexpr Question kQuestions[] = {
      // A job has a column `owner`, too.
      {"SELECT DISTINCT owner FROM file_use u WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE "
       "e.id = u.owner) AND NOT EXISTS (SELECT 1 FROM job j WHERE j.id = u.owner)",
       "it has files, but there is no such entry or job"},
      {"SELECT id FROM entry WHERE kind = 'run' AND NOT EXISTS (SELECT 1 FROM file_use u WHERE "
       "u.owner = entry.id)",
       "this run has no files"},
      {"SELECT id FROM job WHERE last_event <> (SELECT COALESCE(MAX(e.id), 0) FROM job_event e "
       "WHERE e.job = job.id)",
       "this job lacks its last event"},
      {"SELECT id FROM job WHERE state = 'running' AND owner = ''", "nobody runs this job"}};
  for (const Question& question : kQuestions) {
    for (const SqlRow& row : TRY(session.Execute(question.sql))) {
      problems.push_back({LibraryProblem::Kind::kDangling, TextOf(row[0]), question.detail});
    }
  }
  return {};
}

}  // namespace

Result<LibraryCounts> Library::Count() { return state_->database->Read(CountAll); }

Result<LibraryGarbage> Library::CollectGarbage(const GarbageAges& ages) {
  const std::lock_guard lock(state_->files_mutex);
  std::vector<std::string> removed;
  std::map<std::string, uint64_t> known;
  auto collected = state_->database->Change([&](Session& session) -> Result<LibraryGarbage> {
    LibraryGarbage garbage;
    removed.clear();
    const Nanos now = TRY(state_->database->Now(session));
    const auto before = [&](std::chrono::seconds age) {
      return SqlRow{now.value - std::chrono::nanoseconds(age).count()};
    };
    const std::string old_jobs = "finished < $1 AND state IN ('done', 'failed', 'cancelled')";
    TRY(session.Execute(
        "DELETE FROM file_use WHERE owner IN (SELECT id FROM job WHERE " + old_jobs + ")",
        before(ages.jobs)));
    garbage.jobs = TRY(session.Execute("DELETE FROM job WHERE " + old_jobs + " RETURNING id",
                                       before(ages.jobs)))
                       .size();
    const auto gone = TRY(session.Execute(
        fmt::format("DELETE FROM file WHERE kept < $1 AND {} RETURNING digest, bytes", kUnnamed),
        before(ages.files)));
    for (const SqlRow& row : gone) {
      removed.push_back(TextOf(row[0]));
      garbage.bytes += static_cast<uint64_t>(WholeOf(row[1]));
    }
    const auto kept = TRY(CountFiles(session, kUnnamed));
    garbage.kept_files = kept.files;
    garbage.kept_bytes = kept.bytes;
    if (!state_->is_shared) known = TRY(AllFiles(session));
    garbage.files = removed.size();
    return garbage;
  });
  if (!collected) return collected;
  LibraryGarbage& garbage = *collected;
  const FileFolder& files = state_->files;
  for (const std::string& digest : removed) files.Remove(digest);
  // Of a folder, what a process that was killed left without a row; of a shared library, copies
  // that nobody has read for a while.
  files.ForEach([&](const std::string& digest, uint64_t bytes, std::chrono::seconds age) {
    if (age < ages.files || known.contains(digest) || !files.Remove(digest)) return;
    if (state_->is_shared) return;
    ++garbage.files;
    garbage.bytes += bytes;
  });
  return garbage;
}

Result<LibraryCheck> Library::Verify(const std::function<void(uint64_t, uint64_t)>& watch) {
  using Kind = LibraryProblem::Kind;
  const auto damage = TRY(state_->database->FindDamage());
  std::map<std::string, uint64_t> known;
  auto found_rows = state_->database->Read([&](Session& session) -> Result<LibraryCheck> {
    LibraryCheck check;
    check.counts = TRY(CountAll(session));
    known = TRY(AllFiles(session));
    const auto unnamed = TRY(CountFiles(session, kUnnamed));
    check.unnamed_files = unnamed.files;
    check.unnamed_bytes = unnamed.bytes;
    TRY(FindDangling(session, check.problems));
    return check;
  });
  if (!found_rows) return found_rows;
  LibraryCheck check = *std::move(found_rows);
  for (const std::string& line : damage) {
    check.problems.push_back({Kind::kDatabase, name(), line});
  }
  uint64_t done = 0;
  for (const auto& [digest, bytes] : known) {
    Sha256 found;
    uint64_t size = 0;
    const auto take = [&](std::string_view piece) -> Status {
      found.Add(piece);
      size += piece.size();
      done += piece.size();
      if (watch) watch(done, check.counts.file_bytes);
      return {};
    };
    const std::string path = state_->files.PathOf(digest);
    const bool is_there = state_->is_shared || state_->files.SizeOf(digest).has_value();
    Status read;
    if (state_->is_shared) {
      read = state_->database->Read([&, &digest = digest](Session& session) {
        found = Sha256();
        size = 0;
        return ReadChunks(session, digest, take);
      });
    } else if (is_there) {
      read = ReadPieces(path, kPiece, take);
    }
    std::string detail;
    Kind kind = Kind::kMissing;
    if (!is_there) {
      detail = "there is no file of this content";
    } else if (!read) {
      kind = Kind::kUnread;
      detail = read.error().message;
    } else if (size != bytes) {
      kind = Kind::kSize;
      detail = fmt::format("it has {} bytes instead of {}", size, bytes);
    } else if (const std::string digest_now = found.Finish(); digest_now != digest) {
      kind = Kind::kContent;
      detail = fmt::format("its digest is now {}", digest_now);
    }
    if (detail.empty()) continue;
    // Garbage may have been collected meanwhile.
    const auto rows = state_->database->Read([&, &digest = digest](Session& session) {
      return session.Execute("SELECT 1 FROM file WHERE digest = $1", {digest});
    });
    if (!rows || !rows->empty()) check.problems.push_back({kind, digest, detail});
  }
  if (state_->is_shared) return check;
  state_->files.ForEach([&](const std::string& digest, uint64_t bytes, std::chrono::seconds) {
    if (known.contains(digest)) return;
    ++check.unnamed_files;
    check.unnamed_bytes += bytes;
  });
  return check;
}

}  // namespace beryl::store
