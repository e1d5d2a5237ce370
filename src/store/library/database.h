// A database as the library sees it: SQL text and rows, the same for SQLite and PostgreSQL. What
// the two say differently is in Dialect.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace beryl::store {

// Bytes that are no text.
struct Blob {
  std::string bytes;
  bool operator==(const Blob&) const = default;
};

// What a column of a row holds, or a parameter; std::monostate is NULL.
using SqlValue = std::variant<std::monostate, int64_t, double, std::string, Blob>;
using SqlRow = std::vector<SqlValue>;
using SqlRows = std::vector<SqlRow>;

// Readers of a row. What is NULL, or of another type, is 0 or empty.
int64_t WholeOf(const SqlValue& value);
std::string TextOf(const SqlValue& value);
std::string BytesOf(const SqlValue& value);
std::optional<double> NumberOf(const SqlValue& value);
std::optional<Nanos> TimeOf(const SqlValue& value);

struct Dialect {
  bool is_postgres = false;
  // End a SELECT of rows that must stay, or that are about to be changed: others wait, or do
  // without those rows.
  const char* share = "";
  const char* lock = "";
  const char* skip_locked = "";
  // The time of the database, in nanoseconds since 1970.
  const char* now = "";
};

// Runs statements one after another, in a transaction.
class Session {
 public:
  virtual ~Session() = default;
  // One statement with the parameters $1, $2, ...; its rows, if it gives any.
  Result<SqlRows> Execute(const std::string& sql, const SqlRow& parameters = {}) {
    return Run(sql, parameters);
  }

 private:
  virtual Result<SqlRows> Run(const std::string& sql, const SqlRow& parameters) = 0;
};

// Thread-safe.
class Database {
 public:
  virtual ~Database() = default;
  virtual const Dialect& dialect() const = 0;
  // Runs work(session), which returns a Status or a Result, in a transaction, and returns what it
  // returned. The transaction is kept if that is no error; what was kept survives a loss of power.
  // `work` is called again from its start if others were in the way, so it leaves no traces
  // elsewhere.
  template <typename Work>
  auto Change(Work&& work) {
    return ResultOf(true, work);
  }
  // The same on the state at one moment; `work` changes nothing.
  template <typename Work>
  auto Read(Work&& work) {
    return ResultOf(false, work);
  }
  // What the database finds wrong with itself, a line each.
  virtual Result<std::vector<std::string>> FindDamage() = 0;
  // Copies all of it to a file beside it, before a migration to `version`; nothing where an
  // administrator makes backups.
  virtual Status BackUp(int version) = 0;

  Result<Nanos> Now(Session& session) const;

 protected:
  using Steps = std::function<Status(Session&)>;

 private:
  virtual Status Run(bool writes, const Steps& steps) = 0;

  template <typename Work>
  auto ResultOf(bool writes, Work& work) {
    using Returned = std::invoke_result_t<Work&, Session&>;
    std::optional<Returned> returned;
    const Status done = Run(writes, [&](Session& session) -> Status {
      returned.emplace(work(session));
      return *returned ? Status() : Status(returned->error());
    });
    return done ? *std::move(returned) : Returned(done.error());
  }
};

// A file. `read_only`: no statement may change anything.
Result<std::unique_ptr<Database>> OpenSqlite(const std::string& path, bool read_only);
// Connects to "postgresql://..." when it is first needed, and again after a connection was lost.
Result<std::unique_ptr<Database>> OpenPostgres(const std::string& url);

// For messages: neither password nor options.
std::string WithoutPassword(const std::string& url);
// "$3, $4, $5" for (3, 3).
std::string Placeholders(size_t first, size_t count);

}  // namespace beryl::store
