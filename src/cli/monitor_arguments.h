// What the monitor can be told, the same for `beryl monitor` and for the program behind it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/meter_arguments.h"

namespace beryl::cli {

class Command;

struct MonitorArguments {
  MeterArguments meters;
  std::vector<std::string> listen;
  std::string tls_cert;
  std::string tls_key;
  std::string token_file;
  std::string metrics;
  std::string otlp;
  std::string otlp_interval = "10s";
  std::string period = "4ms";
  bool metrics_sessions = false;
  bool published_parts = false;
  uint64_t limit_sessions = 256;
  uint64_t limit_sessions_of_user = 64;
  uint64_t limit_megabytes = 2048;
  uint64_t limit_all_megabytes = 8192;
  std::string limit_length = "24h";
  std::string forget_after = "10m";
  std::string folder;
};

constexpr const char* kMonitorDescription =
    "Measure as a service: for programs that ask for it, for Prometheus and for OpenTelemetry";
extern const char* const kMonitorFooter;

void AddMonitorOptions(Command& command, MonitorArguments& arguments);

}  // namespace beryl::cli
