#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/meter_arguments.h"
#include "cli/monitor_arguments.h"
#include "server/server.h"
#include "version.h"

namespace beryl::cli {
namespace {

Result<server::MonitorOptions> OptionsOf(const MonitorArguments& arguments) {
  server::MonitorOptions options;
  options.listen = arguments.listen;
  options.tls_cert = arguments.tls_cert;
  options.tls_key = arguments.tls_key;
  options.token_file = arguments.token_file;
  options.metrics = arguments.metrics;
  options.otlp = arguments.otlp;
  options.limit_sessions = arguments.limit_sessions;
  options.limit_sessions_of_user = arguments.limit_sessions_of_user;
  options.metrics_sessions = arguments.metrics_sessions;
  options.published_parts = arguments.published_parts;
  options.limit_bytes = arguments.limit_megabytes * 1'000'000;
  options.limit_all_bytes = arguments.limit_all_megabytes * 1'000'000;
  options.folder = arguments.folder;
  options.machine = sources::Machine::FromEnvironment();
  const struct {
    const char* name;
    const std::string& text;
    Nanos& value;
  } times[] = {{"--period", arguments.period, options.period},
               {"--otlp-interval", arguments.otlp_interval, options.otlp_interval},
               {"--limit-length", arguments.limit_length, options.limit_length},
               {"--forget-after", arguments.forget_after, options.forget_after}};
  for (const auto& time : times) {
    const auto parsed = ParseDuration(time.name, time.text);
    if (!parsed) return parsed.error();
    time.value = *parsed;
  }
  if (options.period < Nanos{1'000'000} || options.period > Nanos{600'000'000'000}) {
    return MisuseError(fmt::format("--period {}: from 1ms to 10m", arguments.period));
  }
  if (options.otlp_interval < Nanos{100'000'000}) {
    return MisuseError(fmt::format("--otlp-interval {}: at least 100ms", arguments.otlp_interval));
  }
  auto discover = DiscoverOptionsOf(arguments.meters);
  if (!discover) return discover.error();
  options.discover = std::move(*discover);
  return options;
}

// As beryl itself says it.
int FailMonitor(const Error& error) {
  fmt::print(stderr, "beryl: {}\n", error.message);
  return error.code == ErrorCode::kMisuse ? kMisuse : kFailure;
}

int RunMonitorProgram(int argc, char** argv) {
  Command app{kMonitorDescription, "beryl-monitor"};
  app.footer(kMonitorFooter);
  app.set_version_flag("--version", fmt::format("beryl {} ({})", kVersion, kBuildType));
  app.column_width(34);
  MonitorArguments arguments;
  AddMonitorOptions(app, arguments);
  const Parsing parsing = app.parse(argc, argv);
  if (parsing.outcome == Parsing::Outcome::kAnswered) return kSuccess;
  if (parsing.outcome == Parsing::Outcome::kRefused) {
    fmt::print(stderr, "beryl monitor: {}\nSee beryl monitor --help\n", parsing.refusal);
    return kMisuse;
  }
  if (app.get_option("--metrics")->count() > 0 && arguments.metrics.empty())
    arguments.metrics = "127.0.0.1:9464";
  auto options = OptionsOf(arguments);
  if (!options) return FailMonitor(options.error());
  if (const auto ran = server::RunMonitor(*options); !ran) return FailMonitor(ran.error());
  return kSuccess;
}

}  // namespace
}  // namespace beryl::cli

int main(int argc, char** argv) {
  try {
    return beryl::cli::RunMonitorProgram(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "beryl monitor: cannot go on: %s\n", problem.what());
    return beryl::cli::kFailure;
  }
}
