#include <fmt/format.h>

#include "base/text.h"
#include "server/server.h"

namespace beryl::server {
namespace {

Result<CoarseFor> CoarseForOf(const std::string& word) {
  if (word == "machine") return CoarseFor::kMachineSessions;
  if (word == "all") return CoarseFor::kAllSessions;
  if (word == "none") return CoarseFor::kNobody;
  return MisuseError(
      fmt::format("coarse readings for '{}': expected machine, all or none", Printable(word)),
      {"coarse"});
}

}  // namespace

Result<MonitorOptions> MonitorOptionsOf(const MonitorRequest& request) {
  using flows::ParseDuration;
  constexpr uint64_t kMegabyte = 1'000'000;
  constexpr flows::DurationRange kIntervals = {Nanos{100'000'000}, flows::kAnyDuration.most,
                                               "at least 100ms"};
  MonitorOptions options = request.options;
  options.limit_bytes = request.limit_megabytes * kMegabyte;
  options.limit_bytes_of_user = request.limit_megabytes_of_user * kMegabyte;
  options.limit_all_bytes = request.limit_all_megabytes * kMegabyte;
  options.coarse_for = TRY(CoarseForOf(request.coarse));
  options.period = TRY(ParseDuration("period", request.period, flows::kPeriods));
  options.otlp_interval = TRY(ParseDuration("otlp_interval", request.otlp_interval, kIntervals));
  options.limit_length = TRY(ParseDuration("limit_length", request.limit_length));
  options.forget_after = TRY(ParseDuration("forget_after", request.forget_after));
  options.machine = sources::Machine::FromEnvironment();
  options.discover = TRY(flows::DiscoverOptionsOf(request.meters));
  return options;
}

}  // namespace beryl::server
