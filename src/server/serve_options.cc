#include "flows/meter_request.h"
#include "server/serve.h"

namespace beryl::server {

Result<ServeOptions> ServeOptionsOf(const ServeRequest& request) {
  constexpr flows::DurationRange kTimes = {Nanos{10'000'000}, Nanos{3'600'000'000'000},
                                           "10ms to 1h"};
  ServeOptions options = request.options;
  HttpLimits& limits = options.limits;
  limits.head_patience = TRY(flows::ParseDuration("head_time", request.head_time, kTimes));
  limits.body_patience = TRY(flows::ParseDuration("body_time", request.body_time, kTimes));
  limits.idle_patience = TRY(flows::ParseDuration("idle_time", request.idle_time, kTimes));
  return options;
}

}  // namespace beryl::server
