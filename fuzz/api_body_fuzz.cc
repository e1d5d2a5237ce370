// What the API makes of bodies and queries that others wrote: an answer of a documented status, and
// a problem that is one. The input: a method and a target in the first line, then the body. With
// the method JOB, the target is the kind of a job and the body its request; with ENTRY, the body is
// a change of an entry.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "flows/open_library.h"
#include "require.h"
#include "server/api/api.h"
#include "server/api/job_kinds.h"
#include "server/api/kept_request.h"
#include "server/api/library_entries.h"
#include "server/http/server.h"

namespace beryl::server {
namespace {

using fuzz::Require;

// An empty library; it goes with the fuzzer.
class EmptyLibrary {
 public:
  EmptyLibrary()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("beryl-fuzz-{}", ::getpid())),
        library_(*flows::OpenLibrary(folder_.string())) {}
  ~EmptyLibrary() {
    library_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  store::Library& operator*() { return *library_; }

 private:
  const std::filesystem::path folder_;
  std::unique_ptr<store::Library> library_;
};

Api& TheApi() {
  static Api& api = *new Api;
  return api;
}

// What a job is to do is known, or it fails.
void TryJob(std::string_view kind, std::string_view request) {
  static EmptyLibrary library;
  LibraryJob job;
  job.kind = kind;
  job.request = request;
  const auto task = TaskOf(TheApi(), *library, job);
  Require(task ? task->run != nullptr : !task.error().message.empty(), "a job does something");
  const auto kept = ReadKeptRequest(std::string(request));
  if (!kept) return;
  const std::string written = WriteKeptRequest(*kept);
  const auto again = ReadKeptRequest(written);
  Require(again.has_value(), "what is kept can be read");
  Require(WriteKeptRequest(*again) == written, "kept and read it is the same");
}

void TryEntry(std::string_view body) {
  std::vector<ProblemPart> wrong;
  if (ReadEntryPatch(std::string(body), wrong)) {
    for (const ProblemPart& part : wrong) {
      Require(part.pointer.starts_with('/') && !part.detail.empty(), "a problem is of a member");
    }
  }
}

const HttpOptions& Options() {
  static const HttpOptions& options = *[] {
    Api& api = TheApi();
    auto* made = new HttpOptions;
    made->limits.head_bytes = 16 << 10;
    made->limits.target_bytes = 8 << 10;
    AddModelRoutes(api, made->routes);
    AddContractRoutes(made->routes);
    AddCostRoutes(api, made->routes);
    AddJobRoutes(api, made->routes);
    return made;
  }();
  return options;
}

// Thousands of layers, and sweeps over hundreds of sizes, are sound but slow.
bool IsLarge(std::string_view text) {
  size_t digits = 0;
  for (const char letter : text) {
    if (digits > 0 && (letter == 'e' || letter == 'E')) return true;
    digits = letter >= '0' && letter <= '9' ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

void Try(std::string_view text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  const std::string_view body = end == std::string_view::npos ? "" : text.substr(end + 1);
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.size() > 200 || IsLarge(text)) return;
  if (line.starts_with("JOB ")) return TryJob(line.substr(blank + 1), body);
  if (line.starts_with("ENTRY ")) return TryEntry(body);
  const std::string request =
      fmt::format("{} /api/v1/{} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", line.substr(0, blank),
                  line.substr(blank + 1), body.size(), body);
  const HttpAnswer answer = AnswerTo(request, Options());
  constexpr int kDocumented[] = {200, 400, 404, 405, 413, 414, 422, 431, 501, 503, 505};
  Require(std::find(std::begin(kDocumented), std::end(kDocumented), answer.status) !=
              std::end(kDocumented),
          "an answer has a documented status");
  Require(!answer.body.empty(), "it says something");
  if (answer.type != "application/problem+json") return;
  Require(answer.body.find(fmt::format("\"status\":{}", answer.status)) != std::string::npos,
          "a problem is that of the answer");
}

}  // namespace
}  // namespace beryl::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  beryl::server::Try({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
