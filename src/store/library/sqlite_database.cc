// SQLite: one connection writes and makes checkpoints, others read.
//
// Versions up to 3.51.2 can damage the file if two connections write and make checkpoints at once
// (the WAL-reset bug), so no other connection may do either. library.cc holds a lock on the folder,
// so that there is no other process.
#include <sqlite3.h>

#include <ctime>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "store/library/database.h"
#include "store/library/file_folder.h"
#include "store/library/idle_connections.h"

namespace beryl::store {
namespace {

constexpr int kBusyMs = 10'000;

// The time of the system, for SQL: SQLite's own has milliseconds.
void NowForSql(sqlite3_context* context, int, sqlite3_value**) {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  sqlite3_result_int64(context, int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
}

class Connection final : public Session {
 public:
  static Result<std::unique_ptr<Connection>> Open(const std::string& path, bool writes) {
    std::unique_ptr<Connection> connection(new Connection(path));
    const int flags = (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path.c_str(), &connection->database_, flags, nullptr) != SQLITE_OK) {
      return connection->Failure();
    }
    sqlite3_busy_timeout(connection->database_, kBusyMs);
    sqlite3_create_function(connection->database_, "beryl_now", 0, SQLITE_UTF8, nullptr, NowForSql,
                            nullptr, nullptr);
    TRY(connection->Execute("PRAGMA foreign_keys = ON"));
    if (writes) {
      const auto mode = TRY(connection->Execute("PRAGMA journal_mode = WAL"));
      if (mode.empty() || TextOf(mode[0][0]) != "wal") {
        return IoError(fmt::format(
            "{}: this file system cannot share memory between processes, which the library needs; "
            "put it on a local disk",
            path));
      }
      TRY(connection->Execute("PRAGMA synchronous = FULL"));
      return connection;
    }
    sqlite3_db_config(connection->database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return connection;
  }

  ~Connection() override { sqlite3_close(database_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status InTransaction(const char* begin, const std::function<Status(Session&)>& steps) {
    TRY(Execute(begin));
    Status done = steps(*this);
    if (done) {
      const auto committed = Execute("COMMIT");
      if (!committed) done = committed.error();
    }
    if (!done && sqlite3_get_autocommit(database_) == 0) (void)Execute("ROLLBACK");
    return done;
  }

 private:
  explicit Connection(std::string path) : path_(std::move(path)) {}

  Result<SqlRows> Run(const std::string& sql, const SqlRow& parameters) override {
    sqlite3_stmt* prepared = nullptr;
    const int size = static_cast<int>(sql.size());
    const int status = sqlite3_prepare_v2(database_, sql.c_str(), size, &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared,
                                                                          sqlite3_finalize);
    if (status != SQLITE_OK) return Failure();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string name = "$" + std::to_string(i + 1);
      Bind(prepared, sqlite3_bind_parameter_index(prepared, name.c_str()), parameters[i]);
    }
    SqlRows rows;
    for (;;) {
      const int step = sqlite3_step(prepared);
      if (step == SQLITE_DONE) return rows;
      if (step != SQLITE_ROW) return Failure();
      SqlRow& row = rows.emplace_back();
      for (int column = 0; column < sqlite3_column_count(prepared); ++column) {
        row.push_back(ValueAt(prepared, column));
      }
    }
  }

  // The value outlives the statement, so nothing frees it.
  static void Bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
    if (const auto* const whole = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, index, *whole);
    } else if (const auto* const number = std::get_if<double>(&value)) {
      sqlite3_bind_double(statement, index, *number);
    } else if (const auto* const text = std::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, index, text->data(), text->size(), nullptr, SQLITE_UTF8);
    } else if (const auto* const blob = std::get_if<Blob>(&value)) {
      sqlite3_bind_blob64(statement, index, blob->bytes.data(), blob->bytes.size(), nullptr);
    }
  }

  static SqlValue ValueAt(sqlite3_stmt* statement, int column) {
    const auto bytes = [&](const void* data) {
      return std::string(static_cast<const char*>(data != nullptr ? data : ""),
                         static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    };
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        return int64_t{sqlite3_column_int64(statement, column)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
      case SQLITE_TEXT:
        return bytes(sqlite3_column_text(statement, column));
      case SQLITE_BLOB:
        return Blob{bytes(sqlite3_column_blob(statement, column))};
      default:
        return std::monostate();
    }
  }

  Error Failure() const {
    const int code = database_ != nullptr ? sqlite3_errcode(database_) : SQLITE_NOMEM;
    const std::string said = database_ != nullptr ? sqlite3_errmsg(database_) : "out of memory";
    if (code == SQLITE_NOTADB) {
      return InvalidError(path_ + ": this is no database of a library");
    }
    if ((code & 0xff) == SQLITE_CORRUPT) {
      return InvalidError(fmt::format(
          "{}: the database is damaged ({}); put a backup in its place, see docs/library.md", path_,
          said));
    }
    return IoError(fmt::format("{}: {}", path_, said));
  }

  std::string path_;
  sqlite3* database_ = nullptr;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(std::string path, std::unique_ptr<Connection> writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}

  // The writer closes last: its close makes the last checkpoint.
  ~SqliteDatabase() override { readers_.Clear(); }

  const Dialect& dialect() const override {
    static const Dialect kDialect = {.now = "beryl_now()"};
    return kDialect;
  }

  Result<std::vector<std::string>> FindDamage() override {
    return Read([](Session& session) -> Result<std::vector<std::string>> {
      std::vector<std::string> damage;
      for (const SqlRow& row : TRY(session.Execute("PRAGMA integrity_check"))) {
        if (TextOf(row.at(0)) != "ok") damage.push_back(TextOf(row.at(0)));
      }
      for (const SqlRow& row : TRY(session.Execute("PRAGMA foreign_key_check"))) {
        damage.push_back(fmt::format("a row of {} names what is not in {}", TextOf(row.at(0)),
                                     TextOf(row.at(2))));
      }
      return damage;
    });
  }

  // Whole or not at all: the name says that it is whole.
  Status BackUp(int version) override {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(path_).parent_path();
    const fs::path backup = folder / fmt::format("library-before-{}.db", version);
    const fs::path part = backup.string() + ".part";
    std::error_code failed;
    fs::remove(part, failed);
    const std::lock_guard lock(writer_mutex_);
    TRY(writer_->Execute("VACUUM INTO $1", {part.string()}));
    TRY(SyncToDisk(part.string()));
    fs::rename(part, backup, failed);
    if (failed) return IoError(fmt::format("{}: {}", backup.string(), failed.message()));
    return SyncToDisk(folder.string());
  }

 private:
  Status Run(bool writes, const Steps& steps) override {
    if (writes) {
      if (!writer_) return MisuseError(path_ + ": the library was opened for reading only");
      const std::lock_guard lock(writer_mutex_);
      return writer_->InTransaction("BEGIN IMMEDIATE", steps);
    }
    auto reader = readers_.Take();
    if (!reader) reader = TRY(Connection::Open(path_, false));
    Status done = reader->InTransaction("BEGIN", steps);
    readers_.Put(std::move(reader));
    return done;
  }

  std::string path_;
  std::mutex writer_mutex_;
  std::unique_ptr<Connection> writer_;  // null: read only
  IdleConnections<Connection> readers_;
};

}  // namespace

Result<std::unique_ptr<Database>> OpenSqlite(const std::string& path, bool read_only) {
  std::unique_ptr<Connection> writer;
  if (!read_only) {
    auto opened = TRY(Connection::Open(path, true));
    writer = std::move(opened);
  }
  return std::unique_ptr<Database>(std::make_unique<SqliteDatabase>(path, std::move(writer)));
}

}  // namespace beryl::store
