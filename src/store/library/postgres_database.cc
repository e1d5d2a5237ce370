// PostgreSQL: a connection for each call that runs at the same time, kept for the next one.
#include <bit>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "store/library/database.h"
#include "store/library/idle_connections.h"
#include "store/library/libpq.h"

namespace beryl::store {
namespace {

constexpr int kTries = 5;

// Numbers come with their first byte first.
template <typename Whole>
Whole FromBytes(const char* bytes) {
  Whole whole = 0;
  for (size_t i = 0; i < sizeof(whole); ++i) {
    whole = static_cast<Whole>(whole << 8 | static_cast<uint8_t>(bytes[i]));
  }
  return whole;
}

class Connection final : public Session {
 public:
  static Result<std::unique_ptr<Connection>> Open(const std::string& url, const std::string& name) {
    const auto* const calls = TRY(libpq::Load());
    // What the URL says comes after these.
    const char* const names[] = {"connect_timeout", "application_name", "dbname", "client_encoding",
                                 nullptr};
    const char* const values[] = {"10", "beryl", url.c_str(), "UTF8", nullptr};
    std::unique_ptr<Connection> connection(
        new Connection(calls, calls->connect(names, values, 1), name));
    if (calls->status(connection->connection_) != libpq::kConnectionOk) {
      return IoError(fmt::format("{}: cannot connect: {}", name, connection->Said()));
    }
    calls->set_notices(
        connection->connection_, [](void*, const char*) {}, nullptr);
    return connection;
  }

  ~Connection() override { calls_->finish(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool IsAlive() const { return calls_->status(connection_) == libpq::kConnectionOk; }
  bool IsIdle() const { return calls_->transaction(connection_) == libpq::kIdle; }
  // Others were in the way; the same again may succeed. (Serialization, deadlock, a row that
  // another transaction has just made or removed.)
  bool MayTryAgain() const {
    return state_ == "40001" || state_ == "40P01" || state_ == "23503" || state_ == "23505";
  }

  Status InTransaction(const char* begin, const std::function<Status(Session&)>& steps,
                       bool& is_unsure) {
    state_.clear();
    TRY(Execute(begin));
    Status done = steps(*this);
    if (done) {
      const auto committed = Execute("COMMIT");
      if (!committed) done = committed.error();
      is_unsure = !committed && !IsAlive();
    }
    if (!done && IsAlive()) {
      const std::string state = state_;
      (void)Execute("ROLLBACK");
      state_ = state;
    }
    return done;
  }

 private:
  Connection(const libpq::Calls* calls, libpq::Connection* connection, std::string name)
      : calls_(calls), connection_(connection), name_(std::move(name)) {}

  Result<SqlRows> Run(const std::string& sql, const SqlRow& parameters) override {
    std::vector<std::string> texts(parameters.size());
    std::vector<const char*> values(parameters.size(), nullptr);
    std::vector<int> lengths(parameters.size(), 0);
    std::vector<int> formats(parameters.size(), 0);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const SqlValue& value = parameters[i];
      if (const auto* const blob = std::get_if<Blob>(&value)) {
        values[i] = blob->bytes.data();
        lengths[i] = static_cast<int>(blob->bytes.size());
        formats[i] = 1;
        continue;
      }
      if (std::holds_alternative<std::monostate>(value)) continue;
      if (const auto* const whole = std::get_if<int64_t>(&value)) texts[i] = std::to_string(*whole);
      if (const auto* const number = std::get_if<double>(&value)) {
        texts[i] = fmt::format("{}", *number);
      }
      const auto* const text = std::get_if<std::string>(&value);
      values[i] = text != nullptr ? text->c_str() : texts[i].c_str();
    }
    const std::unique_ptr<libpq::Answer, void (*)(libpq::Answer*)> answer(
        calls_->execute(connection_, sql.c_str(), static_cast<int>(parameters.size()), nullptr,
                        values.data(), lengths.data(), formats.data(), 1),
        calls_->clear);
    const int status = calls_->answer_status(answer.get());
    if (status != libpq::kCommandOk && status != libpq::kTuplesOk) {
      const char* const state = calls_->answer_field(answer.get(), libpq::kSqlState);
      state_ = state != nullptr ? state : "";
      if (!IsAlive()) return IoError(fmt::format("{}: the connection was lost: {}", name_, Said()));
      return IoError(fmt::format("{}: {}", name_, Said()));
    }
    SqlRows rows(static_cast<size_t>(calls_->rows(answer.get())));
    const int columns = calls_->columns(answer.get());
    for (size_t row = 0; row < rows.size(); ++row) {
      for (int column = 0; column < columns; ++column) {
        rows[row].push_back(ValueAt(answer.get(), static_cast<int>(row), column));
      }
    }
    return rows;
  }

  std::string Said() const { return std::string(Trim(calls_->error(connection_))); }

  SqlValue ValueAt(const libpq::Answer* answer, int row, int column) const {
    if (calls_->is_null(answer, row, column) != 0) return std::monostate();
    const char* const bytes = calls_->value(answer, row, column);
    const auto length = static_cast<size_t>(calls_->length(answer, row, column));
    switch (calls_->type(answer, column)) {
      case libpq::kBool:
        return int64_t{bytes[0]};
      case libpq::kInt4:
        return int64_t{static_cast<int32_t>(FromBytes<uint32_t>(bytes))};
      case libpq::kInt8:
        return static_cast<int64_t>(FromBytes<uint64_t>(bytes));
      case libpq::kFloat8:
        return std::bit_cast<double>(FromBytes<uint64_t>(bytes));
      case libpq::kBytea:
        return Blob{std::string(bytes, length)};
      default:
        return std::string(bytes, length);
    }
  }

  const libpq::Calls* calls_;
  libpq::Connection* connection_;
  std::string name_;   // of the database, for messages
  std::string state_;  // SQLSTATE of the last error
};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(std::string url, std::string name)
      : url_(std::move(url)), name_(std::move(name)) {}

  const Dialect& dialect() const override {
    static const Dialect kDialect = {
        .is_postgres = true,
        .share = " FOR KEY SHARE",
        .lock = " FOR UPDATE",
        .skip_locked = " FOR UPDATE SKIP LOCKED",
        .now = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) * 1000"};
    return kDialect;
  }

  // PostgreSQL checks its pages itself, when it reads them; constraints hold what belongs together.
  Result<std::vector<std::string>> FindDamage() override { return std::vector<std::string>(); }
  Status BackUp(int) override { return {}; }

 private:
  Status Run(bool writes, const Steps& steps) override {
    const char* const begin = writes ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    for (int attempt = 1;; ++attempt) {
      auto connection = idle_.Take();
      if (!connection) connection = TRY(Connection::Open(url_, name_));
      bool is_unsure = false;
      const Status done = connection->InTransaction(begin, steps, is_unsure);
      const bool was_lost = !connection->IsAlive();
      const bool again = was_lost || connection->MayTryAgain();
      if (!was_lost && connection->IsIdle()) idle_.Put(std::move(connection));
      if (done) return {};
      // The server may have gone, with all that it was connected to.
      if (was_lost) idle_.Clear();
      if (is_unsure) {
        return IoError(done.error().message +
                       "; whether the change was made is not known: look before you repeat it");
      }
      if (!again || attempt == kTries) return done;
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * attempt));
    }
  }

  std::string url_;
  std::string name_;
  IdleConnections<Connection> idle_;
};

}  // namespace

Result<std::unique_ptr<Database>> OpenPostgres(const std::string& url) {
  TRY(libpq::Load());
  return std::unique_ptr<Database>(std::make_unique<PostgresDatabase>(url, WithoutPassword(url)));
}

}  // namespace beryl::store
