// The tables of a library, and how those of an earlier version become those of the next.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "store/library/database.h"

namespace beryl::store {

// The statements that lead from one version to the next, separated by semicolons. They are history:
// a new version is a new one at the end.
struct Migration {
  std::string_view shared;
  std::string_view sqlite_only = {};
  std::string_view postgres_only = {};
};

// Migration i leads from version i to version i + 1.
std::span<const Migration> AllMigrations();

// Brings a database to the version that `migrations` end with, in one transaction, after a backup
// of what was there. Servers that do so at once wait for each other. It is kInvalid if the database
// has a later version. `name` is for messages.
Status Migrate(Database& database, std::string_view name,
               std::span<const Migration> migrations = AllMigrations());

// Fails unless the database has exactly this version. Changes nothing.
Status CheckVersion(Database& database, std::string_view name);

}  // namespace beryl::store
