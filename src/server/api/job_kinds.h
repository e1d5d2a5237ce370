// What jobs do. A request for a job is checked, kept in the library, and done by a worker later,
// maybe one of another server: then it is read again.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "flows/library_job.h"
#include "server/api/api.h"

namespace beryl::server {

struct JobKind {
  std::string_view name;
  std::string_view path;  // of the route that asks for one
  size_t most;            // bytes of its body
  // Reads a request; what is wrong with it is an error, or among the parameters. The task outlives
  // it, but neither the API nor the library.
  Result<flows::JobTask> (*prepare)(Api&, store::Library&, Parameters&, const HttpRequest&);
};
std::span<const JobKind> JobKinds();

// What is to be done for a job that was kept.
Result<flows::JobTask> TaskOf(Api& api, store::Library& library, const LibraryJob& job);

}  // namespace beryl::server
