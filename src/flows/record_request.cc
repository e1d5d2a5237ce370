#include "flows/record_request.h"

namespace beryl::flows {
namespace {

Status Check(const RecordRequest& request) {
  if (request.command.empty() && (request.repeat.value_or(0) > 0 || !request.cool_down.empty())) {
    return MisuseError("rounds, and rests between them, need a command", {"repeat", "cooldown"});
  }
  if (request.force && (request.output.empty() || request.output == "-")) {
    return MisuseError("there is no file to replace; name one", {"force", "output"});
  }
  if (!request.command.empty() && request.output == "-") {
    return MisuseError("the command prints to standard output; write the recording to a file",
                       {"output"});
  }
  if (!request.command.empty() && !request.pids.empty()) {
    return MisuseError("give either a process or a command, not both", {"pid"});
  }
  return {};
}

Result<RoundPlan> PlanOf(const RecordRequest& request) {
  RoundPlan plan;
  plan.command = request.command;
  plan.pids = request.pids;
  plan.rounds = static_cast<uint32_t>(request.repeat.value_or(0));
  if (!request.length.empty()) {
    plan.length = TRY(ParseDuration("for", request.length));
    // A command that runs for a given time is one round.
    if (!plan.command.empty() && plan.rounds == 0) plan.rounds = 1;
  }
  if (!request.cool_down.empty()) {
    plan.cool_down = TRY(ParseDuration("cooldown", request.cool_down));
    if (plan.rounds == 0) plan.rounds = 1;
  }
  plan.warm_up = static_cast<uint32_t>(request.warm_up.value_or(plan.rounds > 1 ? 1 : 0));
  return plan;
}

}  // namespace

Result<RecordOptions> RecordOptionsOf(const RecordRequest& request) {
  TRY(Check(request));
  RecordOptions options;
  options.plan = TRY(PlanOf(request));
  options.machine = sources::Machine::FromEnvironment();
  options.discover = TRY(DiscoverOptionsOf(request.meters));
  options.period = TRY(ParseDuration("period", request.period, kPeriods));
  options.output = request.output;
  options.replace = request.force;
  return options;
}

}  // namespace beryl::flows
