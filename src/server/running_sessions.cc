// Running sessions: passes samples to them, and ends them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "server/sessions.h"

namespace beryl::server {
namespace {

// The sampler continues for a while after the last session: a client that measures step by step
// soon starts the next one.
constexpr std::chrono::seconds kLinger{2};
constexpr std::chrono::seconds kAbandonedAfter{60};
constexpr std::chrono::milliseconds kLookAfter{500};
// Published clients take differences over 101 ms: each such stretch needs samples of tasks.
constexpr Nanos kPublishedActivity{50'000'000};
constexpr Nanos kUsualActivity{500'000'000};

}  // namespace

// Passes every sample to every running session.
class Sessions::FanOut final : public sources::SampleSink {
 public:
  explicit FanOut(Sessions& sessions) : sessions_(sessions) {
    for (const auto& [id, session] : sessions.table_) {
      if (session->summary().running) Add(session->sink(), session->is_coarse);
    }
    if (sessions.machine_power_) {
      Add(sessions.machine_power_->recorder(), sessions.AreExportsCoarse());
    }
  }
  void OnPower(Nanos time, std::span<const sources::MeterReading> readings) override {
    for (auto* sink : fine_) sink->OnPower(time, readings);
    if (!sessions_.coarse_.Take(time, readings)) return;
    for (auto* sink : coarse_) sink->OnPower(time, sessions_.coarse_.readings());
  }
  void OnTaskBirth(const sources::TaskBirth& birth) override {
    if (birth.watch == 0) {
      sessions_.own_tasks_[birth.task] = {birth.pid, birth.tid, std::string(birth.name)};
    }
    for (auto* sink : sinks_) sink->OnTaskBirth(birth);
  }
  void OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                  std::span<const sources::TaskSample> tasks) override {
    sessions_.last_activity_ = time;
    for (auto* sink : sinks_) sink->OnActivity(time, cpus, tasks);
  }
  void OnTasksEnded(std::span<const uint32_t> tasks) override {
    for (const uint32_t task : tasks) sessions_.own_tasks_.erase(task);
    for (auto* sink : sinks_) sink->OnTasksEnded(tasks);
  }
  void OnFeatures(Nanos time, std::span<const double> values) override {
    for (auto* sink : sinks_) sink->OnFeatures(time, values);
  }
  void OnMissed(Nanos time, uint64_t ticks) override {
    for (auto* sink : sinks_) sink->OnMissed(time, ticks);
  }

 private:
  void Add(sources::SampleSink& sink, bool is_coarse) {
    sinks_.push_back(&sink);
    (is_coarse ? coarse_ : fine_).push_back(&sink);
  }

  Sessions& sessions_;
  std::vector<sources::SampleSink*> sinks_;
  std::vector<sources::SampleSink*> fine_;  // of those
  std::vector<sources::SampleSink*> coarse_;
};

Sessions::Sessions(Meters& meters, Guard guard, SessionsOptions options)
    : meters_(meters),
      guard_(std::move(guard)),
      options_(std::move(options)),
      coarse_(meters.channels(), options_.coarse_period, options_.coarse_step) {
  if (options_.idle_period.value > 0) {
    const Hold hold(*this);
    if (const auto woken = Wake(false); !woken) Say(woken.error().message);
  }
  thread_ = std::thread([this] { Run(); });
}

Sessions::~Sessions() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  const Hold hold(*this);
  Drain();
  for (const auto& [id, session] : table_) {
    if (session->summary().running) EndSession(*session, "the monitor ended");
  }
  if (reading_) meters_.Stop();
}

void Sessions::Run() {
  Hold hold(*this);
  auto last_running = Clock::now();
  auto next_look = Clock::now();
  while (!stopping_) {
    // Without readings, this thread only wakes up to look after kept sessions.
    const auto nap = reading_ ? std::chrono::nanoseconds(options_.drain_every.value)
                              : std::chrono::nanoseconds(kLookAfter);
    hold.SayAll();
    changed_.wait_for(hold.lock(), nap, [&] { return stopping_; });
    if (stopping_) return;
    if (reading_) Round();
    const auto now = Clock::now();
    if (now >= next_look) {
      next_look = now + kLookAfter;
      EndAbandoned();
      Forget();
    }
    const bool running = IsAnyRunning();
    if (running) last_running = now;
    if (reading_ && !running && now - last_running >= kLinger) SetPace();
  }
}

// Everybody can fetch them, as often as they like.
bool Sessions::AreExportsCoarse() const {
  return coarse_.is_needed() && options_.coarse_for != CoarseFor::kNobody;
}

bool Sessions::IsAnyRunning() const {
  return std::any_of(table_.begin(), table_.end(),
                     [](const auto& entry) { return entry.second->summary().running; });
}

// Whether published sessions have waited too long for a sample of tasks, which the sampler may find
// too expensive.
bool Sessions::IsActivityOld() const {
  if (longest_activity_ <= kPublishedActivity) return false;
  const Nanos age = meters_.Now() - last_activity_;
  return std::any_of(table_.begin(), table_.end(), [&](const auto& entry) {
    const SessionSummary& summary = entry.second->summary();
    return summary.published && summary.running &&
           age.value > std::max(summary.period, kPublishedActivity).value / 5 * 3;
  });
}

size_t Sessions::TasksOf(uint32_t uid) const {
  const auto tasks = meters_.tasks_of_users();
  const auto of_user = tasks.find(uid);
  return of_user == tasks.end() ? 0 : of_user->second;
}

bool Sessions::IsInSums(const SessionSummary& session) const {
  return !session.pids.empty() && TasksOf(session.uid) >= options_.limits.tasks_of_user;
}

void Sessions::Round() {
  Drain();
  if (IsActivityOld()) DrainNow();
  const Nanos now = meters_.Now();
  const uint64_t missed = meters_.cost().missed;
  for (const auto& [id, session] : table_) {
    if (!session->summary().running) continue;
    session->has_sums |= IsInSums(session->summary());
    const std::string why = session->AfterSamples(now, missed, options_.limits.bytes);
    if (!why.empty()) EndSession(*session, why);
  }
  if (machine_power_) {
    if (const auto taken = machine_power_->Write(); !taken) Say(taken.error().message);
  }
}

Status Sessions::Wake(bool published) {
  if (reading_) return {};
  own_tasks_.clear();
  const bool exports = options_.idle_period.value > 0;
  if (exports && !machine_power_) machine_power_start_ = meters_.Now();
  longest_activity_ = published ? kPublishedActivity : kUsualActivity;
  TRY(meters_.Start(table_.empty() && exports ? options_.idle_period : options_.period,
                    longest_activity_));
  reading_ = true;
  if (exports && !machine_power_) {
    RecordingPiece head = meters_.blank();
    if (AreExportsCoarse()) head.power.channels = coarse_.channels();
    head.recording.period = options_.idle_period;
    machine_power_ =
        std::make_unique<flows::LiveRecording>(std::move(head), sources::Recorder::Options{});
  }
  return {};
}

// As fast as the fastest session requests; without sessions slowly, or not at all.
void Sessions::SetPace() {
  std::optional<Nanos> fastest;
  for (const auto& [id, session] : table_) {
    if (!session->summary().running) continue;
    const Nanos period = session->summary().period;
    fastest = fastest ? std::min(*fastest, period) : period;
  }
  if (fastest) {
    meters_.SetPeriod(*fastest);
  } else if (options_.idle_period.value > 0) {
    meters_.SetPeriod(options_.idle_period);
  } else {
    meters_.Stop();
    reading_ = false;
  }
}

void Sessions::Drain() {
  if (!reading_) return;
  FanOut fan(*this);
  meters_.Drain(fan);
}

void Sessions::DrainNow() {
  if (reading_) meters_.ReadNow();
  Drain();
}

// Requires the lock, and that all samples up to now were passed on.
void Sessions::EndSession(Session& session, const std::string& why) {
  // Also of a session that ends before its first round.
  if (session.has_sums || IsInSums(session.summary())) {
    session.AddNote(
        {NoteKind::kTasksInSums, "", {static_cast<double>(options_.limits.tasks_of_user)}});
  }
  const auto ended = session.End(meters_.Now(), why, meters_.cost());
  for (const sources::WatchId watch : session.watches()) meters_.Unwatch(watch);
  session.asked = Clock::now();
  if (!ended) Say(session, ended.error().message);
  if (!why.empty()) Say(session, "ended: " + why);
  if (reading_ && IsAnyRunning()) SetPace();  // the others may need it slower
}

void Sessions::Say(const Session& session, const std::string& what) {
  Say(fmt::format("session {} of user {}: {}", session.summary().id, session.summary().uid, what));
}

void Sessions::Say(std::string what) { sayings_.push_back(std::move(what)); }

bool Sessions::HasRunningProcess(const Session& session) const {
  const std::vector<int32_t>& pids = session.summary().pids;
  if (pids.empty()) return true;
  return std::any_of(pids.begin(), pids.end(), [&](int32_t pid) { return guard_.IsRunning(pid); });
}

void Sessions::EndAbandoned() {
  const auto now = Clock::now();
  const Nanos time = meters_.Now();
  for (const auto& [id, session] : table_) {
    const SessionSummary& summary = session->summary();
    if (!summary.running) continue;
    std::string why;
    if (session->WantsToEnd()) {
      why = "its stream ended";
    } else if (time - summary.start > options_.limits.length) {
      why = fmt::format("it reached the limit of {} for a session",
                        FormatSeconds(options_.limits.length.seconds()));
    } else if ((summary.published || now - session->asked >= kAbandonedAfter) &&
               !HasRunningProcess(*session)) {
      why = summary.published ? "its process ended" : "its processes ended and nobody asked for it";
    }
    if (why.empty()) continue;
    Drain();
    EndSession(*session, why);
  }
}

}  // namespace beryl::server
