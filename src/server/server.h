// The monitor: measuring as a service, for programs that do not measure themselves.
//
// It speaks gRPC (api/smaragdine.proto, the published service, and api/monitor.proto, our own) on
// loopback and a Unix socket, and elsewhere only with TLS and a token; Prometheus fetches the power
// of the machine, and OTLP gets it sent. docs/monitor.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sources/sources.h"

namespace beryl::server {

struct MonitorOptions {
  // "unix:PATH", "127.0.0.1:50051", "[::1]:50051"; empty: loopback and the Unix socket.
  std::vector<std::string> listen;
  std::string tls_cert;  // paths of PEM files
  std::string tls_key;
  std::string token_file;
  std::string metrics;            // where Prometheus fetches; empty: nowhere
  bool metrics_sessions = false;  // tells everybody who can fetch the names of sessions
  std::string otlp;               // where OTLP is sent, "http://HOST:PORT"; empty: nowhere
  Nanos otlp_interval{int64_t{10} * 1'000'000'000};
  Nanos period{4'000'000};
  size_t limit_sessions = 256;
  size_t limit_sessions_of_user = 64;
  uint64_t limit_bytes = uint64_t{2} << 30;      // of a session
  uint64_t limit_all_bytes = uint64_t{8} << 30;  // of all together
  Nanos limit_length{int64_t{24} * 3600 * 1'000'000'000};
  Nanos forget_after{int64_t{600} * 1'000'000'000};
  bool published_parts = false;  // RAPL's cores and uncore, for published clients
  std::string folder;            // for the files of sessions; empty: $TMPDIR or /var/tmp
  sources::Machine machine;
  sources::DiscoverOptions discover;
};

// Runs until SIGTERM or SIGINT. Says on stderr where it listens, once it does. An Error: it could
// not start, such as a port that is taken.
Result<bool> RunMonitor(const MonitorOptions& options);

// The Unix socket for everybody's default: /run/beryl/monitor.sock for root and services,
// $XDG_RUNTIME_DIR/beryl.sock for others; empty: there is no place for one.
std::string DefaultSocket();

}  // namespace beryl::server
