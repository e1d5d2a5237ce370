// Looks at what the machine draws, again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "flows/live_view.h"
#include "flows/meter_request.h"
#include "sources/discover.h"
#include "sources/machine.h"

namespace beryl::flows {

struct WatchOptions {
  sources::Machine machine;
  sources::DiscoverOptions discover;
  Nanos every{1'000'000'000};  // at least 500 ms
  std::vector<int32_t> pids;   // watched with their children until all have ended; empty: all
  std::optional<uint64_t> looks = {};  // so many; nothing: until it is stopped
};

// What a user says of it.
struct WatchRequest {
  std::vector<int32_t> pids;
  std::string interval = "1s";  // 500 ms to 60 s
  std::optional<int> count;     // looks
  bool once = false;
  MeterRequest meters;
};
Result<WatchOptions> WatchOptionsOf(const WatchRequest& request);

// Shows a look every so often, until there were enough, the view wants to end, the watched
// processes have ended, or SIGINT, SIGTERM or SIGHUP came. Fails if there is nothing to read, or a
// process is not there. Uses the signals of the whole process, so call it without other threads.
Status WatchPower(const WatchOptions& options, const LiveView& view);

// The same for those who ask by themselves, from one thread at a time: it uses no signals.
class PowerWatch {
 public:
  static Result<std::unique_ptr<PowerWatch>> Start(const WatchOptions& options);
  ~PowerWatch();

  // The look that is due; nothing: there is none yet. Ask several times a second, so that nothing
  // is lost.
  Result<std::optional<PowerLook>> Next();

 private:
  struct State;
  explicit PowerWatch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace beryl::flows
