// An empty library and its routes. A base of fixtures.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "base/folder_for_test.h"
#include "flows/open_library.h"
#include "server/api/api.h"
#include "server/http/server.h"

namespace beryl::server {

class LibraryRoutesForTest : protected FolderForTest {
 protected:
  LibraryRoutesForTest() {
    ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    library_ = *flows::OpenLibrary((folder_ / "library").string());
    api_.library = library_.get();
    options_.limits.body_bytes = uint64_t{1} << 20;
    AddModelRoutes(api_, options_.routes);
    AddEntryRoutes(api_, options_.routes);
    AddAdditionRoutes(api_, options_.routes, uint64_t{1} << 30);
  }
  ~LibraryRoutesForTest() { ::unsetenv("SOURCE_DATE_EPOCH"); }

  HttpAnswer Ask(const std::string& method, const std::string& target, const std::string& body = "",
                 const std::string& fields = "") {
    return AnswerTo(method + " " + target + " HTTP/1.1\r\nHost: h\r\n" + fields +
                        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
                    options_);
  }
  HttpAnswer Get(const std::string& target) { return Ask("GET", target); }
  static std::string StreamOf(const HttpAnswer& answer) {
    std::string bytes;
    while (auto piece = answer.stream ? answer.stream->Next() : std::nullopt) bytes += *piece;
    return bytes;
  }

  std::unique_ptr<store::Library> library_;
  Api api_;
  HttpOptions options_;
};

}  // namespace beryl::server
