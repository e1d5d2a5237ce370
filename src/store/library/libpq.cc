#include "store/library/libpq.h"

#include <dlfcn.h>

#include <cstring>

#include <fmt/format.h>

namespace beryl::store::libpq {
namespace {

constexpr const char* kName = "libpq.so.5";

Result<Calls> LoadCalls() {
  void* const handle = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const said = ::dlerror();
    return IoError(fmt::format(
        "a library in PostgreSQL needs PostgreSQL's client library, which cannot be loaded: {}; "
        "install libpq5 (Debian, Ubuntu) or libpq (Fedora)",
        said != nullptr ? said : kName));
  }
  std::string lacks;
  const auto find = [&](const char* symbol, auto& call) {
    void* const address = ::dlsym(handle, symbol);
    static_assert(sizeof(call) == sizeof(address));
    std::memcpy(&call, &address, sizeof(address));
    if (address == nullptr && lacks.empty()) lacks = symbol;
  };
  Calls calls{};
  find("PQconnectdbParams", calls.connect);
  find("PQstatus", calls.status);
  find("PQerrorMessage", calls.error);
  find("PQtransactionStatus", calls.transaction);
  find("PQfinish", calls.finish);
  find("PQsetNoticeProcessor", calls.set_notices);
  find("PQexecParams", calls.execute);
  find("PQresultStatus", calls.answer_status);
  find("PQresultErrorField", calls.answer_field);
  find("PQntuples", calls.rows);
  find("PQnfields", calls.columns);
  find("PQftype", calls.type);
  find("PQgetisnull", calls.is_null);
  find("PQgetvalue", calls.value);
  find("PQgetlength", calls.length);
  find("PQclear", calls.clear);
  if (!lacks.empty()) return IoError(fmt::format("{} was loaded, but has no {}", kName, lacks));
  return calls;
}

}  // namespace

Result<const Calls*> Load() {
  static const Result<Calls> kCalls = LoadCalls();
  if (!kCalls) return kCalls.error();
  return &*kCalls;
}

}  // namespace beryl::store::libpq
