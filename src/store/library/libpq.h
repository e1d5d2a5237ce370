// PostgreSQL's client library, loaded when a library is first opened there: nobody else waits for
// it at the start of the program, or has to install it. The calls in use are declared here, so that
// building needs nothing of it.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace beryl::store::libpq {

using Connection = struct pg_conn;  // NOLINT(readability-identifier-naming): the library's own
using Answer = struct pg_result;    // NOLINT(readability-identifier-naming)

constexpr int kConnectionOk = 0;
// States of an answer: the statement was carried out, without rows or with rows.
constexpr int kCommandOk = 1;
constexpr int kTuplesOk = 2;
constexpr int kSqlState = 'C';  // the field of an error that says which it is
constexpr int kIdle = 0;        // of a transaction: there is none

// Types of columns (pg_type.dat).
constexpr uint32_t kBool = 16;
constexpr uint32_t kBytea = 17;
constexpr uint32_t kInt8 = 20;
constexpr uint32_t kInt4 = 23;
constexpr uint32_t kFloat8 = 701;

struct Calls {
  Connection* (*connect)(const char* const* names, const char* const* values, int expand);
  int (*status)(const Connection*);
  char* (*error)(const Connection*);
  int (*transaction)(const Connection*);
  void (*finish)(Connection*);
  void (*(*set_notices)(Connection*, void (*)(void*, const char*), void*))(void*, const char*);
  Answer* (*execute)(Connection*, const char* sql, int count, const uint32_t* types,
                     const char* const* values, const int* lengths, const int* formats,
                     int result_format);
  int (*answer_status)(const Answer*);
  char* (*answer_field)(const Answer*, int field);
  int (*rows)(const Answer*);
  int (*columns)(const Answer*);
  uint32_t (*type)(const Answer*, int column);
  int (*is_null)(const Answer*, int row, int column);
  char* (*value)(const Answer*, int row, int column);
  int (*length)(const Answer*, int row, int column);
  void (*clear)(Answer*);
};

// Loads it once per process; it stays. Thread-safe. The error says what to install.
Result<const Calls*> Load();

}  // namespace beryl::store::libpq
