// The monitor: measuring as a service, for programs that do not measure themselves.
//
// It serves gRPC (api/smaragdine.proto, the published service, and api/monitor.proto, our own) on
// loopback and a Unix socket, and elsewhere only with TLS and a token. Prometheus can fetch the
// power of the machine, and OTLP receives it. See docs/monitor.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "flows/meter_request.h"
#include "server/coarse_readings.h"
#include "sources/discover.h"
#include "sources/machine.h"

namespace beryl::server {

struct MonitorOptions {
  // "unix:PATH", "127.0.0.1:50051", "[::1]:50051"; empty: loopback and the Unix socket.
  std::vector<std::string> listen;
  std::string tls_cert;  // paths of PEM files
  std::string tls_key;
  std::string token_file;
  std::string metrics;            // address for Prometheus; empty: none
  bool metrics_sessions = false;  // shows session names to everybody who can fetch
  std::string otlp;               // OTLP target, "http://HOST:PORT"; empty: none
  Nanos otlp_interval{int64_t{10} * 1'000'000'000};
  Nanos period{4'000'000};
  size_t limit_sessions = 256;
  size_t limit_sessions_of_user = 64;
  uint64_t limit_bytes = uint64_t{2} << 30;  // per session
  uint64_t limit_bytes_of_user = uint64_t{4} << 30;
  uint64_t limit_all_bytes = uint64_t{8} << 30;  // all sessions together
  CoarseFor coarse_for = CoarseFor::kMachineSessions;
  Nanos limit_length{int64_t{24} * 3600 * 1'000'000'000};
  Nanos forget_after{int64_t{600} * 1'000'000'000};
  bool published_parts = false;  // RAPL's cores and uncore, for published clients
  std::string folder;            // for the files of sessions; empty: $TMPDIR or /var/tmp
  sources::Machine machine;
  sources::DiscoverOptions discover;
};

// What a user says of it.
struct MonitorRequest {
  MonitorOptions options;  // those that need no parsing
  flows::MeterRequest meters;
  std::string otlp_interval = "10s";
  std::string period = "4ms";
  uint64_t limit_megabytes = 2048;
  uint64_t limit_megabytes_of_user = 4096;
  uint64_t limit_all_megabytes = 8192;
  std::string coarse = "machine";
  std::string limit_length = "24h";
  std::string forget_after = "10m";
};
Result<MonitorOptions> MonitorOptionsOf(const MonitorRequest& request);

// Runs until SIGTERM or SIGINT. Prints on stderr where it listens. An Error if it cannot start, for
// example because a port is in use.
Status RunMonitor(const MonitorOptions& options);

// The default Unix socket: /run/beryl/monitor.sock for root and services,
// $XDG_RUNTIME_DIR/beryl.sock for others; empty if there is no place for one.
std::string DefaultSocket();

}  // namespace beryl::server
