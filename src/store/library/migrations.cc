#include "store/library/migrations.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::store {
namespace {

// Times are nanoseconds since 1970; lists of words have a line end before, between and after them;
// what is unknown is NULL for a number and empty for a text.
constexpr std::array<Migration, 3> kMigrations = {Migration{.shared = R"(
CREATE TABLE file (
  digest TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL,
  kept BIGINT NOT NULL);
CREATE TABLE entry (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  form TEXT NOT NULL,
  content TEXT NOT NULL,
  name TEXT NOT NULL,
  tags TEXT NOT NULL,
  notes TEXT NOT NULL,
  created BIGINT NOT NULL,
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  profile TEXT NOT NULL,
  request TEXT NOT NULL,
  origin TEXT NOT NULL,
  search TEXT NOT NULL,
  energy_j DOUBLE PRECISION,
  low_j DOUBLE PRECISION,
  high_j DOUBLE PRECISION,
  machine_j DOUBLE PRECISION,
  duration_s DOUBLE PRECISION,
  per_step_j DOUBLE PRECISION,
  per_query_j DOUBLE PRECISION,
  per_token_j DOUBLE PRECISION,
  parameters DOUBLE PRECISION,
  operations DOUBLE PRECISION,
  readings DOUBLE PRECISION,
  accuracy DOUBLE PRECISION,
  UNIQUE (kind, content));
CREATE INDEX entry_by_time ON entry (created, id);
CREATE TABLE file_use (
  owner TEXT NOT NULL,
  n BIGINT NOT NULL,
  digest TEXT NOT NULL REFERENCES file (digest),
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  rank TEXT NOT NULL,
  media_type TEXT NOT NULL,
  PRIMARY KEY (owner, n));
CREATE INDEX file_use_by_digest ON file_use (digest))",
                                                            .postgres_only = R"(
CREATE TABLE chunk (
  digest TEXT NOT NULL REFERENCES file (digest) ON DELETE CASCADE,
  n BIGINT NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (digest, n));
ALTER TABLE chunk ALTER COLUMN bytes SET STORAGE EXTERNAL)"},
                                                  Migration{.shared = R"(
CREATE TABLE job (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  request TEXT NOT NULL,
  state TEXT NOT NULL,
  progress_done BIGINT NOT NULL,
  progress_total BIGINT NOT NULL,
  progress_text TEXT NOT NULL,
  error TEXT NOT NULL,
  created BIGINT NOT NULL,
  started BIGINT,
  finished BIGINT,
  attempts BIGINT NOT NULL,
  cancel_requested BIGINT NOT NULL,
  owner TEXT NOT NULL,
  heard BIGINT,
  last_event BIGINT NOT NULL);
CREATE INDEX job_by_time ON job (created, id);
CREATE INDEX job_by_state ON job (state, created, id);
CREATE TABLE job_event (
  job TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  id BIGINT NOT NULL,
  happened BIGINT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (job, id)))"},
                                                  Migration{.shared = R"(
ALTER TABLE job ADD COLUMN entries TEXT NOT NULL DEFAULT '')"}};

Status ExecuteAll(Session& session, std::string_view statements) {
  for (const std::string_view statement : Split(statements, ';')) {
    if (Trim(statement).empty()) continue;
    TRY(session.Execute(std::string(statement)));
  }
  return {};
}

// 0: there are no tables yet.
Result<int> VersionOf(Session& session, bool is_postgres) {
  // Reads the table itself: to_regclass may remember that there was none before another process,
  // for which this one has waited, made it.
  const auto tables = TRY(
      session.Execute(is_postgres ? "SELECT 1 FROM pg_class WHERE relname = 'library_version' AND "
                                    "pg_table_is_visible(oid)"
                                  : "SELECT 1 FROM sqlite_master WHERE name = 'library_version'"));
  if (tables.empty()) return 0;
  const auto rows = TRY(session.Execute("SELECT version FROM library_version"));
  return rows.empty() ? 0 : static_cast<int>(WholeOf(rows[0][0]));
}

Result<int> VersionOf(Database& database) {
  return database.Read(
      [&](Session& session) { return VersionOf(session, database.dialect().is_postgres); });
}

Error TooNew(std::string_view name, int version, size_t known) {
  return InvalidError(fmt::format(
      "{}: the library has version {}, and this program knows versions up to {}; use the later "
      "program that made it",
      name, version, known));
}

}  // namespace

std::span<const Migration> AllMigrations() { return kMigrations; }

Status Migrate(Database& database, std::string_view name, std::span<const Migration> migrations) {
  const bool is_postgres = database.dialect().is_postgres;
  const int wanted = static_cast<int>(migrations.size());
  int version = TRY(VersionOf(database));
  if (version == wanted) return {};
  if (version > wanted) return TooNew(name, version, migrations.size());
  if (version > 0) TRY(database.BackUp(wanted));
  return database.Change([&](Session& session) -> Status {
    // Any number will do, as long as nothing else takes it.
    if (is_postgres) TRY(session.Execute("SELECT pg_advisory_xact_lock(4202634291)"));
    version = TRY(VersionOf(session, is_postgres));
    if (version == wanted) return {};
    if (version > wanted) return TooNew(name, version, migrations.size());
    if (version == 0) {
      TRY(session.Execute("CREATE TABLE library_version (version BIGINT NOT NULL)"));
      TRY(session.Execute("INSERT INTO library_version VALUES (0)"));
    }
    for (const Migration& migration : migrations.subspan(static_cast<size_t>(version))) {
      TRY(ExecuteAll(session, migration.shared));
      TRY(ExecuteAll(session, is_postgres ? migration.postgres_only : migration.sqlite_only));
    }
    TRY(session.Execute("UPDATE library_version SET version = $1", {int64_t{wanted}}));
    return {};
  });
}

Status CheckVersion(Database& database, std::string_view name) {
  const size_t wanted = AllMigrations().size();
  const int version = TRY(VersionOf(database));
  if (version > static_cast<int>(wanted)) return TooNew(name, version, wanted);
  if (version == static_cast<int>(wanted)) return {};
  return InvalidError(fmt::format(
      "{}: the library has version {}, and this program needs version {}; a command that changes "
      "something brings it up to date",
      name, version, wanted));
}

}  // namespace beryl::store
