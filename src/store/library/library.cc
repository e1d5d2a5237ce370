#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/this_machine.h"
#include "store/library/migrations.h"
#include "store/library/state.h"

namespace beryl::store {
namespace {

namespace fs = std::filesystem;

// For a command that has the folder for a moment.
constexpr std::chrono::milliseconds kLockWait{2000};

bool IsUrl(const std::string& where) {
  return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

std::string CacheFolder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const fs::path root = cache != nullptr && *cache == '/' ? fs::path(cache)
                        : home != nullptr                 ? fs::path(home) / ".cache"
                                                          : fs::temp_directory_path();
  return (root / "beryl" / "library").string();
}

}  // namespace

Library::Library(std::unique_ptr<State> state) : state_(std::move(state)) {}
Library::~Library() = default;

const std::string& Library::name() const { return state_->name; }
bool Library::is_shared() const { return state_->is_shared; }

Result<std::unique_ptr<Library>> Library::Open(const std::string& where,
                                               const LibraryOptions& options) {
  const std::string owner = fmt::format("{}:{}:{}", HostName(), ::getpid(), RandomName());
  if (IsUrl(where)) {
    auto database = TRY(OpenPostgres(where));
    const std::string name = WithoutPassword(where);
    TRY(options.read_only ? CheckVersion(*database, name) : Migrate(*database, name));
    const std::string cache = options.cache.empty() ? CacheFolder() : options.cache;
    auto files = TRY(FileFolder::Open(cache));
    files.Sweep(std::chrono::hours(24));
    return std::unique_ptr<Library>(new Library(std::unique_ptr<State>(
        new State{{}, name, true, options, owner, std::move(files), std::move(database)})));
  }
  const std::string folder = (fs::path(where) / "").parent_path().string();
  const std::string database_path = (fs::path(folder) / "library.db").string();
  std::error_code ignored;
  if (options.read_only && !fs::exists(database_path, ignored)) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: there is no library here yet", folder)};
  }
  if (!options.read_only) TRY(FileFolder::Open(folder));
  auto lock =
      FolderLock::Take(folder, options.read_only ? std::chrono::milliseconds(0) : kLockWait);
  const bool is_beside = !lock && options.read_only;
  if (!lock && !is_beside) return std::move(lock).error();
  auto database = TRY(OpenSqlite(database_path, is_beside));
  TRY(is_beside ? CheckVersion(*database, folder) : Migrate(*database, folder));
  std::unique_ptr<State> state(new State{is_beside ? FolderLock() : *std::move(lock), folder, false,
                                         options, owner, FileFolder::At(folder),
                                         std::move(database)});
  if (!is_beside) {
    state->files.Sweep(std::chrono::seconds(0));
    TRY(state->GiveBackAllJobs());
  }
  return std::unique_ptr<Library>(new Library(std::move(state)));
}

}  // namespace beryl::store
