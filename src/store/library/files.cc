// Files of a library. In a folder, a file is in its place before its row is; in PostgreSQL its
// bytes are rows beside it.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "store/library/state.h"
#include "types/library_json.h"

namespace beryl::store {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

}  // namespace

struct FileIntake::State {
  Library::State& library;
  NewContent content;
  uint64_t stored = 0;   // by the others, when it began
  uint64_t counted = 0;  // of `in_flight`

  State(Library::State& owner, NewContent begun, uint64_t others)
      : library(owner), content(std::move(begun)), stored(others) {}
  ~State() { library.in_flight -= counted; }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status CheckRoom(uint64_t others) const {
    const uint64_t most = library.options.most_bytes;
    if (most == 0 || others + library.in_flight <= most) return {};
    return Error{
        ErrorCode::kTooMuch,
        fmt::format("{}: the library may hold {}, and this file would make it more; remove "
                    "entries and collect garbage, or raise the limit",
                    library.name, FormatBytes(most))};
  }
};

FileIntake::FileIntake(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileIntake::FileIntake(FileIntake&&) noexcept = default;
FileIntake& FileIntake::operator=(FileIntake&&) noexcept = default;
FileIntake::~FileIntake() = default;

uint64_t FileIntake::bytes() const { return state_->content.bytes(); }

Status FileIntake::Write(std::string_view bytes) {
  state_->counted += bytes.size();
  state_->library.in_flight += bytes.size();
  TRY(state_->CheckRoom(state_->stored));
  return state_->content.Write(bytes);
}

Result<StoredFile> FileIntake::Keep() {
  Library::State& library = state_->library;
  NewContent& content = state_->content;
  const StoredFile stored = TRY(content.Finish());
  std::unique_lock lock(library.files_mutex, std::defer_lock);
  if (!library.is_shared) {
    lock.lock();
    TRY(library.files.Place(content, stored.digest));
  }
  const Status done = library.database->Change([&](Session& session) -> Status {
    if (library.options.most_bytes > 0) {
      const uint64_t others = TRY(StoredBytes(session));
      TRY(state_->CheckRoom(others));
    }
    const Nanos now = TRY(library.database->Now(session));
    TRY(
        session.Execute("INSERT INTO file (digest, bytes, kept) VALUES ($1, $2, $3) "
                        "ON CONFLICT (digest) DO UPDATE SET kept = excluded.kept",
                        {stored.digest, static_cast<int64_t>(stored.bytes), now.value}));
    if (!library.is_shared) return {};
    const auto chunks =
        TRY(session.Execute("SELECT n FROM chunk WHERE digest = $1 LIMIT 1", {stored.digest}));
    if (!chunks.empty()) return {};
    int64_t n = 0;
    return ReadPieces(content.path(), kChunk, [&](std::string_view piece) -> Status {
      TRY(session.Execute("INSERT INTO chunk (digest, n, bytes) VALUES ($1, $2, $3)",
                          {stored.digest, n++, Blob{std::string(piece)}}));
      return {};
    });
  });
  if (!done) return done.error();
  // Only a copy: it is fetched again if this fails.
  if (library.is_shared) (void)library.files.Place(content, stored.digest);
  return stored;
}

Result<FileIntake> Library::BeginFile() {
  uint64_t stored = 0;
  if (state_->options.most_bytes > 0) {
    stored = TRY(state_->database->Read(StoredBytes));
  }
  auto content = TRY(state_->files.Begin());
  return FileIntake(std::make_unique<FileIntake::State>(*state_, std::move(content), stored));
}

Result<StoredFile> Library::KeepFile(std::string_view bytes) {
  auto intake = TRY(BeginFile());
  TRY(intake.Write(bytes));
  return intake.Keep();
}

Result<std::string> Library::PathOf(const std::string& digest) {
  const FileFolder& files = state_->files;
  using Fetched = std::optional<NewContent>;  // nothing: it is here already
  auto read = state_->database->Read([&](Session& session) -> Result<Fetched> {
    const auto rows = TRY(session.Execute("SELECT bytes FROM file WHERE digest = $1", {digest}));
    if (rows.empty()) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("{}: there is no file {}", state_->name, Printable(digest))};
    }
    const auto bytes = static_cast<uint64_t>(WholeOf(rows[0][0]));
    if (!state_->is_shared || files.SizeOf(digest) == bytes) return Fetched();
    Fetched fetched(TRY(files.Begin()));
    TRY(ReadChunks(session, digest, [&](std::string_view piece) { return fetched->Write(piece); }));
    return fetched;
  });
  if (!read) return std::move(read).error();
  if (Fetched& content = *read) {
    const StoredFile fetched = TRY(content->Finish());
    if (fetched.digest != digest) {
      return InvalidError(
          fmt::format("{}: the bytes of file {} are not what they were; its digest "
                      "is now {}",
                      state_->name, digest, fetched.digest));
    }
    TRY(files.Place(*content, digest));
  }
  if (state_->is_shared) files.Touch(digest);
  return files.PathOf(digest);
}

Result<uint64_t> StoredBytes(Session& session) {
  const auto rows =
      TRY(session.Execute("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM file"));
  return static_cast<uint64_t>(WholeOf(rows.at(0).at(0)));
}

Status AddFiles(Database& database, Session& session, const std::string& owner,
                const std::vector<EntryFile>& files) {
  const auto used = TRY(session.Execute("SELECT COUNT(*) FROM file_use WHERE owner = $1", {owner}));
  int64_t n = WholeOf(used.at(0).at(0));
  for (const EntryFile& file : files) {
    const std::string& digest = file.stored.digest;
    const auto kept = TRY(session.Execute(
        std::string("SELECT bytes FROM file WHERE digest = $1") + database.dialect().share,
        {digest}));
    if (kept.empty()) {
      return Error{ErrorCode::kNotFound, fmt::format("file '{}' ({}) has not been kept",
                                                     Printable(file.name), Printable(digest))};
    }
    TRY(session.Execute(
        "INSERT INTO file_use (owner, n, digest, name, role, rank, media_type) VALUES (" +
            Placeholders(1, 7) + ")",
        {owner, n++, digest, StoredText(file.name), std::string(FileRoleName(file.role)),
         StoredText(file.rank), StoredText(file.media_type)}));
  }
  return {};
}

Status ReadFiles(Session& session, const std::vector<std::string>& owners,
                 const std::function<void(const std::string&, EntryFile)>& take) {
  if (owners.empty()) return {};
  const auto rows =
      TRY(session.Execute("SELECT u.owner, u.digest, f.bytes, u.name, u.role, u.rank, u.media_type "
                          "FROM file_use u JOIN file f ON f.digest = u.digest WHERE u.owner IN (" +
                              Placeholders(1, owners.size()) + ") ORDER BY u.owner, u.n",
                          SqlRow(owners.begin(), owners.end())));
  for (const SqlRow& row : rows) {
    EntryFile file;
    file.stored = {TextOf(row[1]), static_cast<uint64_t>(WholeOf(row[2]))};
    file.name = TextOf(row[3]);
    file.role = FindFileRole(TextOf(row[4])).value_or(FileRole::kOther);
    file.rank = TextOf(row[5]);
    file.media_type = TextOf(row[6]);
    take(TextOf(row[0]), std::move(file));
  }
  return {};
}

Status ReadChunks(Session& session, const std::string& digest,
                  const std::function<Status(std::string_view)>& take) {
  for (int64_t n = 0;; ++n) {
    const auto rows =
        TRY(session.Execute("SELECT bytes FROM chunk WHERE digest = $1 AND n = $2", {digest, n}));
    if (rows.empty()) return {};
    TRY(take(BytesOf(rows[0][0])));
  }
}

std::string StoredText(std::string_view text) { return PrintableLines(text); }

Result<std::string> StoredJson(std::string text, std::string_view what) {
  if (!IsJsonObject(text)) return MisuseError(fmt::format("the {} is not a JSON object", what));
  size_t first = 0;
  json::Sanitize(text.data(), text.size(), first);
  return text;
}

Status CheckPage(const PageRequest& request) {
  if (request.size >= 1 && request.size <= 1000) return {};
  return MisuseError(fmt::format("a page of {} is not from 1 to 1000", request.size),
                     {"max_results"});
}

}  // namespace beryl::store
