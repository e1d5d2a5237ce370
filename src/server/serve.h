// The server of the API and its page: models, predictions and stored runs, over HTTP.
// docs/serve.md is for those who run it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "server/http/limits.h"

namespace beryl::server {

struct ServeOptions {
  std::vector<std::string> listen;  // "127.0.0.1:8420", "[::1]:8420", "unix:PATH"; empty: loopback
  std::vector<std::string> hosts;   // further names that clients may address it by
  std::vector<std::string> allowed_origins;
  std::string token_file;
  bool read_only = false;
  std::string tls_cert;  // paths of PEM files
  std::string tls_key;
  std::string access_log;  // a file, or "-" for standard output; empty: none
  // As for flows::OpenLibrary. One that is named must be there to be used; without the user's own,
  // models and predictions are served all the same.
  std::string library;
  uint64_t upload_megabytes = 16384;  // that one request may bring; 413
  uint64_t library_megabytes = 0;     // of its files together; 0: as many as fit; 507
  size_t jobs = 2;  // that run at a time; 0: they are left to other servers of the library
  HttpLimits limits = {.head_bytes = size_t{16} << 10,
                       .target_bytes = size_t{8} << 10,
                       .body_bytes = uint64_t{1} << 20,
                       .connections = 8192,
                       .connections_of_peer = 256,
                       .streams = 256,
                       .head_patience = Nanos{10'000'000'000},
                       .body_patience = Nanos{20'000'000'000},
                       .workers = 0,  // as many as there are CPUs, at least 2
                       .cache_bytes = size_t{32} << 20};
  Nanos end_patience{10'000'000'000};  // for what runs, after SIGTERM
};

// What a user says of it.
struct ServeRequest {
  ServeOptions options;  // those that need no parsing
  std::string head_time = "10s";
  std::string body_time = "20s";
  std::string idle_time = "60s";
};
Result<ServeOptions> ServeOptionsOf(const ServeRequest& request);

// Runs until SIGTERM or SIGINT; SIGHUP reads token and certificate again. Prints on stderr where it
// listens, once it answers. Takes over a socket that systemd passes on.
Status RunServe(const ServeOptions& options);

}  // namespace beryl::server
