#include "cli/record_rounds.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <list>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/child_process.h"

namespace beryl::cli {
namespace {

constexpr Nanos kPumpEvery{200'000'000};
// How long a command that has ended is kept, so that its last times are read.
constexpr int64_t kKeptNs = 100'000'000;
constexpr Nanos kLongestStandby{10'000'000'000};

class Rounds {
 public:
  Rounds(const RoundPlan& plan, const SignalInbox& signals, LiveRecording& recording)
      : plan_(plan), signals_(signals), recording_(recording) {}

  Result<int> Run() {
    if (plan_.command.empty()) return Watch();
    if (plan_.rounds == 0) return RunOnce();
    if (auto ok = FindStandby(); !ok) return ok.error();
    if (plan_.warm_up > 0) {
      auto code = RunRound("warm-up", plan_.warm_up, std::nullopt, true);
      if (!code || *code != 0 || stopped_) return code;
    }
    for (uint32_t round = 1; round <= plan_.rounds && !stopped_; ++round) {
      if (auto ok = CoolDown(round); !ok) return ok.error();
      if (stopped_) break;
      auto code = RunRound(fmt::format("round {}", round), 1, plan_.length, false);
      if (!code || *code != 0) return code;
    }
    return 0;
  }

 private:
  // Takes signals and writes readings down for as long as `done` says no.
  template <typename Done>
  Result<bool> Until(Done&& done, const ChildProcess* child) {
    while (!done()) {
      if (const auto signal = signals_.Wait(kPumpEvery)) {
        if (!Take(*signal, child)) return true;
      }
      if (auto ok = recording_.Pump(); !ok) return ok;
      ended_.remove_if([&](const Kept& kept) { return recording_.Now() > kept.until; });
    }
    return true;
  }

  // False: do not wait any longer.
  bool Take(const signalfd_siginfo& signal, const ChildProcess* child) {
    const auto number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) return true;
    const bool again = std::exchange(stopped_, true);
    if (child == nullptr || again) return false;
    // A terminal sends Ctrl-C to the command as well.
    if (signal.ssi_code != SI_KERNEL) child->Signal(number);
    return true;
  }

  Result<int> Watch() {
    const Nanos start = recording_.Now();
    auto ok = Until(
        [&] {
          if (stopped_) return true;
          if (plan_.length && recording_.Now() - start >= *plan_.length) return true;
          if (plan_.pids.empty()) return false;
          return std::none_of(plan_.pids.begin(), plan_.pids.end(),
                              [&](int32_t pid) { return recording_.IsRunning(pid); });
        },
        nullptr);
    if (!ok) return ok.error();
    return 0;
  }

  Result<int> RunOnce() {
    auto child = ChildProcess::Prepare(plan_.command);
    if (!child) return child.error();
    recording_.Watch(child->pid());
    if (auto ok = child->Release(); !ok) return ok.error();
    auto ok = Until([&] { return child->Ended().has_value(); }, &*child);
    const int code = child->Ended().value_or(-1);
    ended_.push_back({std::move(*child), recording_.Now() + Nanos{kKeptNs}});
    if (!ok) return ok.error();
    return code;
  }

  // Runs the command at least `runs` times, and again until `length` is over.
  Result<int> RunRound(const std::string& name, uint32_t runs, std::optional<Nanos> length,
                       bool warm_up) {
    RunWindow window{name, recording_.Now(), {}, warm_up};
    int code = 0;
    do {
      auto once = RunOnce();
      if (!once) return once;
      code = *once;
      ++window.runs;
    } while (code == 0 && !stopped_ &&
             (window.runs < runs || (length && recording_.Now() - window.start < *length)));
    window.end = recording_.Now();
    if (code != 0) {
      recording_.AddNote(fmt::format("run {} of {} ended with {}: there are no more rounds",
                                     window.runs, name, code));
    } else if (stopped_) {
      recording_.AddNote(fmt::format("stopped in {}, which does not count", name));
    }
    if (code != 0 || stopped_) return code;
    if (auto ok = recording_.AddWindow(window); !ok) return ok.error();
    return code;
  }

  // Lets the machine be until `done`, or for `longest`.
  template <typename Done>
  Result<bool> Rest(Nanos longest, Done&& done) {
    standby_.Restart();
    const Nanos start = recording_.Now();
    return Until(
        [&] {
          standby_.Add(recording_.Now(), recording_.joules(), recording_.cpu_util());
          return stopped_ || recording_.Now() - start >= longest || done();
        },
        nullptr);
  }

  Result<bool> FindStandby() {
    if (!plan_.cool_down) return true;
    if (auto ok =
            Rest(std::min(kLongestStandby, *plan_.cool_down), [&] { return standby_.IsResting(); });
        !ok) {
      return ok;
    }
    standby_w_ = standby_.watts();
    if (std::isnan(standby_w_)) {
      recording_.AddNote("standby power is not known: no meter told any; rounds are not delayed");
    } else if (!standby_.IsResting()) {
      recording_.AddNote(
          fmt::format("the machine was not at rest before the first round: CPU load {:.1f} %, {}",
                      standby_.load(), FormatWatts(standby_w_)));
    } else {
      recording_.AddNote(fmt::format("standby: {} at a CPU load of {:.2f} %",
                                     FormatWatts(standby_w_), standby_.load()));
    }
    return true;
  }

  Result<bool> CoolDown(uint32_t round) {
    if (!plan_.cool_down || std::isnan(standby_w_)) return true;
    auto ok = Rest(*plan_.cool_down, [&] { return standby_.IsBackAt(standby_w_); });
    if (ok && !stopped_ && !standby_.IsBackAt(standby_w_)) {
      recording_.AddNote(
          fmt::format("before round {} the machine drew {} even after {} of rest; "
                      "standby is {}",
                      round, FormatWatts(standby_.watts()),
                      FormatSeconds(plan_.cool_down->seconds()), FormatWatts(standby_w_)));
    }
    return ok;
  }

  struct Kept {
    ChildProcess child;
    Nanos until;
  };

  const RoundPlan& plan_;
  const SignalInbox& signals_;
  LiveRecording& recording_;
  std::list<Kept> ended_;
  sources::StandbyWatch standby_;
  double standby_w_ = kUnknown;
  bool stopped_ = false;
};

}  // namespace

Result<int> RunRounds(const RoundPlan& plan, const SignalInbox& signals, LiveRecording& recording) {
  return Rounds(plan, signals, recording).Run();
}

}  // namespace beryl::cli
