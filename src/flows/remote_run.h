// Runs on another machine's `beryl serve`: sending one there, and getting one back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/run_files.h"
#include "types/library_entry.h"

namespace beryl::flows {

struct RemoteServer {
  std::string url;         // "http://box:8420", "https://box.example.org"
  std::string token_file;  // empty: it asks for none
  // Called with what is sent or received, and its size; the function that it returns, with the
  // bytes so far.
  std::function<std::function<void(uint64_t bytes)>(const std::string& what, uint64_t size)> watch;
};

struct RemoteRun {
  std::string id;
  std::string url;
  bool is_new = true;  // false: the server had these files already
  uint64_t bytes = 0;  // of its files
};

// Sends the files of one run, as they are, with what `said` says of it: name, tags, notes, model,
// machine, accuracy. What the server refuses is an error with its words.
Result<RemoteRun> PushRun(const RemoteServer& server, const RunFiles& files,
                          const LibraryEntry& said);

// Gets the files of a run, byte for byte, and returns where they are. `run` is its id, or its URL,
// and then there is no need of `server.url`. `output` is a folder, for files under the names that
// they were given, or the file to write; only the former if there are several. Each is checked
// against its digest and appears whole or not at all. Replaces a file only with `force`.
Result<std::vector<std::string>> PullRun(const RemoteServer& server, const std::string& run,
                                         const std::string& output, bool force);

}  // namespace beryl::flows
