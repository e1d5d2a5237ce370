#include "flows/record_rounds.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <list>

#include <fmt/format.h>

#include "account/power_looks.h"
#include "flows/child_process.h"
#include "flows/machine_recording.h"
#include "flows/recording_file.h"
#include "flows/signal_inbox.h"
#include "sources/standby.h"

namespace beryl::flows {
namespace {

constexpr Nanos kPumpEvery{200'000'000};
constexpr Nanos kLongestStandby{10'000'000'000};

class Rounds {
 public:
  Rounds(const RecordOptions& options, const SignalInbox& signals, RecordingFile& file,
         MachineRecording& recording)
      : options_(options),
        plan_(options.plan),
        signals_(signals),
        file_(file),
        recording_(recording) {}

  Result<RoundsDone> Run() {
    RoundsDone done;
    end_ = recording_.Now();
    const auto code = RunAll();
    if (code) done.exit_code = *code;
    if (!code && !is_kept_) return code.error();
    if (!is_kept_) return done;
    // The command's own code; a recording without a command has none.
    const bool known = code && !plan_.command.empty();
    Try(recording_.Finish(known ? *code : -1, end_));
    if (!code) return code.error();
    done.trouble = trouble_;
    done.file = file_.path();
    return done;
  }

 private:
  // What the file replaces is gone from here on, so something must be known to run.
  void Keep() {
    if (is_kept_) return;
    is_kept_ = true;
    Try(file_.Keep());
    const bool is_named = !options_.output.empty() && options_.output != "-";
    if (is_named && !options_.replace && file_.path() != options_.output) {
      recording_.AddNote({NoteKind::kNameTaken, options_.output, {file_.path()}});
    }
    if (options_.when_begun) options_.when_begun(file_.path());
  }

  // A write error must not end the command; it is reported at the end.
  void Try(const Status& done) {
    if (!done && !trouble_) trouble_ = done.error();
  }

  Result<int> RunAll() {
    if (plan_.command.empty()) return Watch();
    if (plan_.rounds == 0) return RunOnce();
    FindStandby();
    if (plan_.warm_up > 0 && !stopped_by_) {
      auto code = RunRound("warm-up", plan_.warm_up, std::nullopt, true);
      if (!code || *code != 0) return code;
    }
    for (uint32_t round = 1; round <= plan_.rounds && !stopped_by_; ++round) {
      CoolDown(round);
      if (stopped_by_) break;
      auto code = RunRound(fmt::format("round {}", round), 1, plan_.length, false);
      if (!code || *code != 0) return code;
    }
    return stopped_by_ ? 128 + *stopped_by_ : 0;
  }

  // Handles signals and writes readings until `done`, at most until `deadline`.
  template <typename Done>
  void Until(Done&& done, const ChildProcess* child, std::optional<Nanos> deadline = {}) {
    while (!done()) {
      Nanos patience = kPumpEvery;
      if (deadline) patience = std::clamp(*deadline - recording_.Now(), Nanos{0}, patience);
      const auto signal = signals_.Wait(patience);
      if (signal && !Take(*signal, child)) return;
      if (signal && done()) return;
      if (recording_.has_begun() && !trouble_) Try(recording_.Pump());
      ShowLive();
      if (child == nullptr && options_.live.wants_end && options_.live.wants_end()) {
        ended_by_view_ = true;
      }
      // Waits for ended commands once their last times have been read.
      ended_.remove_if([&](const Kept& kept) { return recording_.last_activity() > kept.end; });
    }
  }

  void ShowLive() {
    if (!options_.live.show || !recording_.has_begun()) return;
    const auto stretch = recording_.TakeStretch();
    if (!stretch) return;
    PowerLook look = looks_.Next(*stretch, recording_.Now());
    look.machine = recording_.head().machine;
    look.pids = recording_.head().pids;
    look.notes = recording_.notes();
    look.provenance = MakeProvenance({});
    options_.live.show(look);
  }

  // False: stop waiting.
  bool Take(const signalfd_siginfo& signal, const ChildProcess* child) {
    const auto number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) return true;
    const bool again = stopped_by_.has_value();
    stopped_by_ = number;
    if (child == nullptr || again) return false;
    // A terminal sends Ctrl-C to the command as well.
    if (signal.ssi_code != SI_KERNEL) child->Signal(number);
    return true;
  }

  Result<int> Watch() {
    TRY(recording_.Begin());
    Keep();
    std::optional<Nanos> deadline;
    if (plan_.length) deadline = recording_.Now() + *plan_.length;
    Until(
        [&] {
          if (stopped_by_ || ended_by_view_) return true;
          if (deadline && recording_.Now() >= *deadline) return true;
          if (plan_.pids.empty()) return false;
          return std::none_of(plan_.pids.begin(), plan_.pids.end(),
                              [&](int32_t pid) { return recording_.IsRunning(pid); });
        },
        nullptr, deadline);
    recording_.ReadNow();
    end_ = recording_.Now();
    return 0;
  }

  // Signals that arrived during the search for meters are for us, because there is no command yet.
  bool WasStopped() {
    while (const auto signal = signals_.Wait(Nanos{0})) Take(*signal, nullptr);
    return stopped_by_.has_value();
  }

  Result<int> RunOnce() {
    if (WasStopped()) return 128 + *stopped_by_;
    auto child = TRY(ChildProcess::Prepare(plan_.command));
    recording_.AddCommand(child.pid());
    if (!recording_.has_begun()) {
      TRY(recording_.Begin());
    }
    begin_ = end_ = recording_.Now();
    TRY(child.Release());
    Keep();
    Until(
        [&] {
          if (!child.Ended()) return false;
          recording_.ReadNow();
          end_ = recording_.Now();
          return true;
        },
        &child);
    if (!child.Ended()) end_ = recording_.Now();
    const int code = child.Ended().value_or(128 + stopped_by_.value_or(0));
    ended_.push_back({std::move(child), end_});
    return code;
  }

  // Runs the command at least `runs` times, and again until `length` has passed.
  Result<int> RunRound(const std::string& name, uint32_t runs, std::optional<Nanos> length,
                       bool warm_up) {
    RunWindow window{name, {}, {}, warm_up};
    int code = 0;
    do {
      auto once = RunOnce();
      if (!once) return once;
      code = *once;
      if (window.runs++ == 0) window.start = begin_;
    } while (code == 0 && !stopped_by_ &&
             (window.runs < runs || (length && end_ - window.start < *length)));
    window.end = end_;
    if (stopped_by_) {
      recording_.AddNote({NoteKind::kStoppedInRound, name});
    } else if (code != 0) {
      recording_.AddNote({NoteKind::kRoundFailed, name, {window.runs, code}});
    } else if (!trouble_) {
      Try(recording_.AddWindow(window));
    }
    return code;
  }

  // Waits until `done`, or for `longest`.
  template <typename Done>
  void Rest(Nanos longest, Done&& done) {
    standby_.Restart();
    const Nanos start = recording_.Now();
    Until(
        [&] {
          standby_.Add(recording_.Now(), recording_.energy(), recording_.cpu_util());
          return stopped_by_ || recording_.Now() - start >= longest || done();
        },
        nullptr);
  }

  void FindStandby() {
    if (!plan_.cool_down) return;
    if (Try(recording_.Begin()); trouble_) return;
    Rest(std::min(kLongestStandby, *plan_.cool_down), [&] { return standby_.IsResting(); });
    standby_power_ = standby_.power();
    if (!standby_power_) {
      recording_.AddNote(NoteKind::kStandbyNotKnown);
    } else if (!standby_.IsResting()) {
      recording_.AddNote({NoteKind::kNotAtRest, "", {standby_.load(), standby_power_}});
    } else {
      recording_.AddNote({NoteKind::kStandby, "", {standby_power_, standby_.load()}});
    }
  }

  void CoolDown(uint32_t round) {
    if (!plan_.cool_down || !standby_power_) return;
    Rest(*plan_.cool_down, [&] { return standby_.IsBackAt(*standby_power_); });
    if (stopped_by_ || standby_.IsBackAt(*standby_power_)) return;
    recording_.AddNote({NoteKind::kNotCooledDown,
                        fmt::format("round {}", round),
                        {standby_.power(), plan_.cool_down->seconds(), standby_power_}});
  }

  struct Kept {
    ChildProcess child;
    Nanos end;
  };

  const RecordOptions& options_;
  const RoundPlan& plan_;
  const SignalInbox& signals_;
  RecordingFile& file_;
  MachineRecording& recording_;
  bool is_kept_ = false;
  account::PowerLooks looks_;
  bool ended_by_view_ = false;
  std::list<Kept> ended_;
  sources::StandbyWatch standby_;
  std::optional<Watts> standby_power_;
  Nanos begin_;  // of the last run of the command
  Nanos end_;    // of it, or of the recording
  std::optional<int> stopped_by_;
  std::optional<Error> trouble_;
};

}  // namespace

Result<RoundsDone> RecordRounds(const RecordOptions& options) {
  const RoundPlan& plan = options.plan;
  for (const int32_t pid : plan.pids) {
    if (!sources::IsRunning(options.machine, pid)) {
      return InvalidError(fmt::format("process {}: no such process", pid));
    }
  }
  auto file = TRY(RecordingFile::Open(options.output, options.replace));
  auto signals = TRY(SignalInbox::Open());
  RaiseFileLimit();
  AdoptOrphans();
  auto recording = TRY(MachineRecording::Start(
      {options.machine, options.discover, options.period, plan.command, plan.pids}, file.file()));
  if (options.live.show) recording->FollowEnergy();
  return Rounds(options, signals, file, *recording).Run();
}

}  // namespace beryl::flows
