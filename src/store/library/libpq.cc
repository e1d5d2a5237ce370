#include "store/library/libpq.h"

#include "base/shared_library.h"

namespace beryl::store::libpq {
namespace {

Result<Calls> LoadCalls() {
  SharedLibrary library = TRY(
      SharedLibrary::Load("libpq.so.5", "a library in PostgreSQL needs PostgreSQL's client library",
                          "libpq5 (Debian, Ubuntu) or libpq (Fedora)"));
  Calls calls{};
  library.Find("PQconnectdbParams", calls.connect);
  library.Find("PQstatus", calls.status);
  library.Find("PQerrorMessage", calls.error);
  library.Find("PQtransactionStatus", calls.transaction);
  library.Find("PQfinish", calls.finish);
  library.Find("PQsetNoticeProcessor", calls.set_notices);
  library.Find("PQexecParams", calls.execute);
  library.Find("PQresultStatus", calls.answer_status);
  library.Find("PQresultErrorField", calls.answer_field);
  library.Find("PQntuples", calls.rows);
  library.Find("PQnfields", calls.columns);
  library.Find("PQftype", calls.type);
  library.Find("PQgetisnull", calls.is_null);
  library.Find("PQgetvalue", calls.value);
  library.Find("PQgetlength", calls.length);
  library.Find("PQclear", calls.clear);
  TRY(library.HasAll());
  return calls;
}

}  // namespace

Result<const Calls*> Load() {
  static const Result<Calls> kCalls = LoadCalls();
  if (!kCalls) return kCalls.error();
  return &*kCalls;
}

}  // namespace beryl::store::libpq
