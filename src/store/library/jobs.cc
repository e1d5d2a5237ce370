// Jobs: a row each, and one for each of their events. Every change of state is one transaction.
#include <map>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "store/library/page_token.h"
#include "store/library/state.h"

namespace beryl::store {
namespace {

constexpr const char* kColumns =
    "id, kind, request, state, progress_done, progress_total, progress_text, error, created, "
    "started, finished, attempts, cancel_requested, owner, heard, last_event, entries";
constexpr uint32_t kMostAttempts = 3;
constexpr int64_t kKeptEvents = 256;

SqlValue OrNull(const std::optional<Nanos>& time) {
  return time ? SqlValue(time->value) : SqlValue();
}

// "profile 0123456789abcdef\n"
std::string EntriesText(const std::vector<JobEntry>& entries) {
  std::string text;
  for (const JobEntry& entry : entries) {
    text += fmt::format("{} {}\n", EntryKindName(entry.kind), entry.id);
  }
  return text;
}

std::vector<JobEntry> EntriesIn(std::string_view text) {
  std::vector<JobEntry> entries;
  for (const std::string_view line : Split(text, '\n')) {
    const size_t blank = line.find(' ');
    const auto kind = FindEntryKind(line.substr(0, blank));
    if (kind && blank != std::string_view::npos) {
      entries.push_back({*kind, std::string(line.substr(blank + 1))});
    }
  }
  return entries;
}

// A job as its row has it.
struct JobRow : LibraryJob {
  std::optional<Nanos> heard;  // when its owner last said that it works on it
};

JobRow JobOf(const SqlRow& row) {
  JobRow job;
  job.id = TextOf(row[0]);
  job.kind = TextOf(row[1]);
  job.request = TextOf(row[2]);
  job.state = FindJobState(TextOf(row[3])).value_or(JobState::kFailed);
  job.progress = {static_cast<uint64_t>(WholeOf(row[4])), static_cast<uint64_t>(WholeOf(row[5])),
                  TextOf(row[6])};
  job.error = TextOf(row[7]);
  job.created = TimeOf(row[8]).value_or(Nanos{});
  job.started = TimeOf(row[9]);
  job.finished = TimeOf(row[10]);
  job.attempts = static_cast<uint32_t>(WholeOf(row[11]));
  job.cancel_requested = WholeOf(row[12]) != 0;
  job.owner = TextOf(row[13]);
  job.heard = TimeOf(row[14]);
  job.last_event = WholeOf(row[15]);
  job.entries = EntriesIn(TextOf(row[16]));
  return job;
}

Result<std::vector<JobRow>> LoadJobs(Session& session, const std::string& where,
                                     const SqlRow& parameters) {
  std::vector<JobRow> jobs;
  const auto rows =
      TRY(session.Execute(fmt::format("SELECT {} FROM job WHERE {}", kColumns, where), parameters));
  std::map<std::string, size_t> by_id;
  std::vector<std::string> ids;
  for (const SqlRow& row : rows) {
    by_id[TextOf(row[0])] = jobs.size();
    ids.push_back(TextOf(row[0]));
    jobs.push_back(JobOf(row));
  }
  TRY(ReadFiles(session, ids, [&](const std::string& id, EntryFile file) {
    jobs[by_id.at(id)].files.push_back(std::move(file));
  }));
  return jobs;
}

Result<JobRow> LoadJob(Session& session, const std::string& library, const std::string& id,
                       const std::string& lock = "") {
  auto jobs = TRY(LoadJobs(session, "id = $1" + lock, {id}));
  if (!jobs.empty()) return std::move(jobs[0]);
  return Error{ErrorCode::kNotFound,
               fmt::format("{}: there is no job '{}'", library, Printable(id))};
}

std::string ProgressBody(const JobProgress& progress) {
  JsonWriter json;
  json.BeginObject().Member("done", progress.done);
  json.Member("total", progress.total > 0 ? std::optional(progress.total) : std::nullopt);
  json.Member("text", progress.text).End();
  return json.Take();
}

std::string BodyOf(const LibraryJob& job) {
  if (job.state == JobState::kFailed) return job.error;
  JsonWriter json;
  json.BeginObject().Member("attempts", job.attempts);
  if (job.state == JobState::kDone) {
    json.Objects("files", job.files, [&](const EntryFile& file) {
      json.Member("digest", file.stored.digest).Member("bytes", file.stored.bytes);
      json.Member("name", file.name).Member("media_type", file.media_type);
    });
    json.Objects("entries", job.entries, [&](const JobEntry& entry) {
      json.Member("kind", EntryKindName(entry.kind)).Member("id", entry.id);
    });
  }
  json.End();
  return json.Take();
}

// Writes a job that was loaded and changed, with the event that says so.
Status SaveJob(Session& session, JobRow& job, Nanos now, const std::string& event,
               const std::string& body) {
  ++job.last_event;
  TRY(session.Execute(
      "UPDATE job SET state = $2, progress_done = $3, progress_total = $4, progress_text = $5, "
      "error = $6, started = $7, finished = $8, attempts = $9, cancel_requested = $10, "
      "owner = $11, heard = $12, last_event = $13, entries = $14 WHERE id = $1",
      {job.id, std::string(JobStateName(job.state)), static_cast<int64_t>(job.progress.done),
       static_cast<int64_t>(job.progress.total), job.progress.text, job.error, OrNull(job.started),
       OrNull(job.finished), int64_t{job.attempts}, int64_t{job.cancel_requested ? 1 : 0},
       job.owner, OrNull(job.heard), job.last_event, EntriesText(job.entries)}));
  TRY(session.Execute(
      "INSERT INTO job_event (job, id, happened, name, body) VALUES ($1, $2, $3, $4, $5)",
      {job.id, job.last_event, now.value, event, body}));
  TRY(session.Execute("DELETE FROM job_event WHERE job = $1 AND id <= $2",
                      {job.id, job.last_event - kKeptEvents}));
  return {};
}

Status SaveState(Session& session, JobRow& job, JobState state, Nanos now) {
  job.state = state;
  if (state == JobState::kRunning) {
    job.started = now;
    job.heard = now;
  } else {
    job.owner.clear();
    job.heard.reset();
  }
  if (HasEnded(state)) job.finished = now;
  return SaveJob(session, job, now, std::string(JobStateName(state)), BodyOf(job));
}

// A job whose process is gone. One that ended its process three times is not tried again.
Status GiveBackLost(Session& session, JobRow& job, Nanos now) {
  if (job.cancel_requested) return SaveState(session, job, JobState::kCancelled, now);
  if (job.attempts < kMostAttempts) return SaveState(session, job, JobState::kQueued, now);
  JsonWriter json;
  json.BeginObject().Member(
      "detail",
      fmt::format("the server ended {} times while it did this job; it is not tried again",
                  job.attempts));
  json.End();
  job.error = json.Take();
  return SaveState(session, job, JobState::kFailed, now);
}

}  // namespace

Status Library::State::GiveBackAllJobs() {
  return database->Change([&](Session& session) -> Status {
    const Nanos now = TRY(database->Now(session));
    auto jobs = TRY(LoadJobs(session, "state = 'running'", {}));
    for (JobRow& job : jobs) TRY(GiveBackLost(session, job, now));
    return {};
  });
}

Result<LibraryJob> Library::State::ChangeJob(const std::string& id, const JobChange& change) {
  return database->Change([&](Session& session) -> Result<LibraryJob> {
    JobRow job = TRY(LoadJob(session, name, id, database->dialect().lock));
    const Nanos now = TRY(database->Now(session));
    const NextState state = TRY(change(session, job));
    if (state) TRY(SaveState(session, job, *state, now));
    return LibraryJob(job);
  });
}

Status Library::State::CheckRunsHere(const LibraryJob& job) const {
  if (job.state == JobState::kRunning && job.owner == owner) return {};
  return Error{ErrorCode::kNotNow,
               fmt::format("job {} does not run here: it is {}{}", job.id, JobStateName(job.state),
                           job.owner.empty() ? "" : " by " + job.owner)};
}

Result<LibraryJob> Library::Enqueue(const std::string& kind, const std::string& request,
                                    const std::vector<EntryFile>& files) {
  JobRow job;
  job.id = RandomName();
  job.kind = StoredText(kind);
  job.request = TRY(StoredJson(request, "request of the job"));
  return state_->database->Change([&](Session& session) -> Result<LibraryJob> {
    const Nanos now = TRY(state_->database->Now(session));
    JobRow fresh = job;
    TRY(session.Execute(
        fmt::format("INSERT INTO job ({}) VALUES ({})", kColumns, Placeholders(1, 17)),
        {job.id, job.kind, job.request, std::string(JobStateName(job.state)), int64_t{0},
         int64_t{0}, std::string(), std::string(), now.value, SqlValue(), SqlValue(), int64_t{0},
         int64_t{0}, std::string(), SqlValue(), int64_t{0}, std::string()}));
    TRY(SaveState(session, fresh, JobState::kQueued, now));
    TRY(AddFiles(*state_->database, session, job.id, files));
    return LibraryJob(TRY(LoadJob(session, name(), job.id)));
  });
}

Result<LibraryJob> Library::GetJob(const std::string& id) {
  return state_->database->Read([&](Session& session) -> Result<LibraryJob> {
    return LibraryJob(TRY(LoadJob(session, name(), id)));
  });
}

Result<JobPage> Library::ListJobs(const JobFilter& filter, const PageRequest& request) {
  TRY(CheckPage(request));
  const std::string state(filter.state ? JobStateName(*filter.state) : "");
  const std::string list = fmt::format("jobs {}\n{}", state, filter.kind);
  std::string where = "($1 = '' OR state = $1) AND ($2 = '' OR kind = $2)";
  SqlRow parameters = {state, StoredText(filter.kind)};
  if (!request.token.empty()) {
    const PageEnd before = TRY(ReadPageToken(list, request.token));
    where += " AND (created, id) < ($3, $4)";
    parameters.emplace_back(before.created.value);
    parameters.emplace_back(before.id);
  }
  where += fmt::format(" ORDER BY created DESC, id DESC LIMIT {}", request.size + 1);
  return state_->database->Read([&](Session& session) -> Result<JobPage> {
    JobPage page;
    for (JobRow& job : TRY(LoadJobs(session, where, parameters))) page.jobs.push_back(job);
    if (page.jobs.size() <= static_cast<size_t>(request.size)) return page;
    page.jobs.pop_back();
    page.next_token = MakePageToken(list, {page.jobs.back().created, page.jobs.back().id});
    return page;
  });
}

Result<std::optional<LibraryJob>> Library::ClaimJob() {
  using Claimed = std::optional<LibraryJob>;
  return state_->database->Change([&](Session& session) -> Result<Claimed> {
    const std::string skip_locked = state_->database->dialect().skip_locked;
    const Nanos now = TRY(state_->database->Now(session));
    if (state_->is_shared) {
      const auto lease = std::chrono::nanoseconds(state_->options.lease).count();
      auto lost = TRY(
          LoadJobs(session, "state = 'running' AND heard < $1" + skip_locked, {now.value - lease}));
      for (JobRow& job : lost) TRY(GiveBackLost(session, job, now));
    }
    auto queued =
        TRY(LoadJobs(session, "state = 'queued' ORDER BY created, id LIMIT 1" + skip_locked, {}));
    if (queued.empty()) return Claimed();
    JobRow& job = queued[0];
    job.owner = state_->owner;
    ++job.attempts;
    TRY(SaveState(session, job, JobState::kRunning, now));
    return Claimed(job);
  });
}

Result<bool> Library::KeepJob(const std::string& id) {
  const auto look = [&](Session& session) -> Result<bool> {
    const JobRow job = TRY(LoadJob(session, name(), id));
    TRY(state_->CheckRunsHere(job));
    return job.cancel_requested;
  };
  // Nobody else asks when a job in a folder was last heard of.
  if (!state_->is_shared) return state_->database->Read(look);
  return state_->database->Change([&](Session& session) -> Result<bool> {
    TRY(session.Execute(fmt::format("UPDATE job SET heard = {} WHERE id = $1 AND owner = $2",
                                    state_->database->dialect().now),
                        {id, state_->owner}));
    return look(session);
  });
}

Result<bool> Library::ReportJob(const std::string& id, const JobProgress& progress) {
  return state_->database->Change([&](Session& session) -> Result<bool> {
    JobRow job = TRY(LoadJob(session, name(), id, state_->database->dialect().lock));
    TRY(state_->CheckRunsHere(job));
    const Nanos now = TRY(state_->database->Now(session));
    job.progress = {progress.done, progress.total, StoredText(progress.text)};
    job.heard = now;
    TRY(SaveJob(session, job, now, "progress", ProgressBody(job.progress)));
    return job.cancel_requested;
  });
}

Result<LibraryJob> Library::FinishJob(const std::string& id, const std::vector<EntryFile>& results,
                                      std::vector<LibraryEntry> made) {
  for (LibraryEntry& entry : made) entry = TRY(EntryToAdd(std::move(entry)));
  return state_->ChangeJob(id, [&](Session& session, LibraryJob& job) -> Result<NextState> {
    TRY(state_->CheckRunsHere(job));
    TRY(AddFiles(*state_->database, session, id, results));
    job.files.insert(job.files.end(), results.begin(), results.end());
    for (const LibraryEntry& entry : made) {
      const auto added = TRY(AddEntry(*state_->database, session, name(), entry));
      job.entries.push_back({added.entry.kind, added.entry.id});
    }
    return NextState(JobState::kDone);
  });
}

Result<LibraryJob> Library::FailJob(const std::string& id, const std::string& error) {
  const std::string stored = TRY(StoredJson(error, "error of the job"));
  return state_->ChangeJob(id, [&](Session&, LibraryJob& job) -> Result<NextState> {
    TRY(state_->CheckRunsHere(job));
    job.error = stored;
    return NextState(JobState::kFailed);
  });
}

Result<LibraryJob> Library::EndCancelledJob(const std::string& id) {
  return state_->ChangeJob(id, [&](Session&, LibraryJob& job) -> Result<NextState> {
    TRY(state_->CheckRunsHere(job));
    return NextState(JobState::kCancelled);
  });
}

Result<LibraryJob> Library::GiveBackJob(const std::string& id) {
  return state_->ChangeJob(id, [&](Session&, LibraryJob& job) -> Result<NextState> {
    TRY(state_->CheckRunsHere(job));
    --job.attempts;  // it is not to blame
    return NextState(job.cancel_requested ? JobState::kCancelled : JobState::kQueued);
  });
}

Result<LibraryJob> Library::CancelJob(const std::string& id) {
  return state_->ChangeJob(id, [&](Session& session, LibraryJob& job) -> Result<NextState> {
    if (HasEnded(job.state)) return NextState();
    if (job.state == JobState::kQueued) return NextState(JobState::kCancelled);
    job.cancel_requested = true;
    TRY(session.Execute("UPDATE job SET cancel_requested = 1 WHERE id = $1", {id}));
    return NextState();
  });
}

Result<std::vector<JobEvent>> Library::EventsAfter(const std::string& id, int64_t after) {
  return state_->database->Read([&](Session& session) -> Result<std::vector<JobEvent>> {
    std::vector<JobEvent> events;
    TRY(LoadJob(session, name(), id));
    const auto rows = TRY(
        session.Execute("SELECT id, happened, name, body FROM job_event WHERE job = $1 AND id > $2 "
                        "ORDER BY id LIMIT 1000",
                        {id, after}));
    for (const SqlRow& row : rows) {
      events.push_back(
          {WholeOf(row[0]), TimeOf(row[1]).value_or(Nanos{}), TextOf(row[2]), TextOf(row[3])});
    }
    return events;
  });
}

}  // namespace beryl::store
