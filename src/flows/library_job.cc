#include "flows/library_job.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "base/json_writer.h"
#include "base/text.h"

namespace beryl::flows {
namespace {

// Stands by a job while it is worked on: reports how far it is, and stops it if somebody wants
// that.
class JobKeeper {
 public:
  JobKeeper(store::Library& library, const LibraryJob& job, std::string text, WorkWatch& watch,
            std::chrono::milliseconds pace)
      : library_(library), job_(job), text_(std::move(text)), watch_(watch), pace_(pace) {}

  // Until the work has ended or, before that, `ending` is asked to stop.
  void Keep(const std::stop_token& ending) {
    std::unique_lock lock(mutex_);
    Report();
    while (!has_ended_ && !is_lost_) {
      changed_.wait_for(lock, ending, pace_, [&] { return has_ended_; });
      if (has_ended_ || is_lost_) return;
      if (ending.stop_requested()) return GiveBack();
      Report();
    }
  }
  void End() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    changed_.notify_all();
  }

  // Once Keep has returned.
  bool is_lost() const { return is_lost_; }
  bool is_cancelled() const { return is_cancelled_; }
  const Status& given_back() const { return given_back_; }

 private:
  void Report() {
    const JobProgress now = {watch_.done(), watch_.total(), text_};
    const bool is_news = now.done != told_.done || now.total != told_.total || told_.text.empty();
    const auto cancelled = is_news ? library_.ReportJob(job_.id, now) : library_.KeepJob(job_.id);
    if (cancelled) {
      told_ = now;
      is_cancelled_ = *cancelled;
      if (is_cancelled_) watch_.Stop();
    } else if (cancelled.error().code == ErrorCode::kNotNow ||
               cancelled.error().code == ErrorCode::kNotFound) {
      is_lost_ = true;
      watch_.Stop();
    }
    // Any other error may be over the next time; until then the lease holds.
  }
  void GiveBack() {
    is_lost_ = true;
    watch_.Stop();
    if (const auto given = library_.GiveBackJob(job_.id); !given) given_back_ = given.error();
  }

  store::Library& library_;
  const LibraryJob& job_;
  const std::string text_;
  WorkWatch& watch_;
  const std::chrono::milliseconds pace_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool has_ended_ = false;
  bool is_lost_ = false;  // it does not run here any more
  bool is_cancelled_ = false;
  JobProgress told_;
  Status given_back_;
};

Result<JobOutcome> Guarded(const JobTask& task, WorkWatch& watch) {
  try {
    return task.run(watch);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kTooMuch, "there is not enough memory for this job"};
  } catch (const std::exception&) {
    return InvalidError("the job could not be done");
  }
}

// That somebody else has the job is no error here.
Status EndOf(const Result<LibraryJob>& ended) {
  if (ended || ended.error().code == ErrorCode::kNotNow ||
      ended.error().code == ErrorCode::kNotFound) {
    return {};
  }
  return ended.error();
}

Status Fail(store::Library& library, const LibraryJob& job, const Error& error) {
  return EndOf(library.FailJob(job.id, JobError(error)));
}

}  // namespace

std::string JobError(const Error& error) {
  JsonWriter json;
  json.BeginObject().Member("detail", Printable(error.message));
  if (!error.options.empty()) {
    json.Objects("errors", error.options, [&](std::string_view option) {
      json.Member("parameter", option).Member("detail", Printable(error.message));
    });
  }
  json.End();
  return json.Take();
}

Status RunJob(store::Library& library, const LibraryJob& job, const Result<JobTask>& task,
              const std::stop_token& ending, std::chrono::milliseconds pace) {
  if (!task) return Fail(library, job, task.error());
  WorkWatch watch;
  JobKeeper keeper(library, job, task->text, watch, pace);
  std::thread keeping([&] { keeper.Keep(ending); });
  auto outcome = Guarded(*task, watch);
  keeper.End();
  keeping.join();
  if (keeper.is_lost()) return keeper.given_back();
  if (keeper.is_cancelled() && watch.is_stopped() && !outcome) {
    return EndOf(library.EndCancelledJob(job.id));
  }
  if (!outcome) return Fail(library, job, outcome.error());
  const auto done = library.FinishJob(job.id, outcome->results, std::move(outcome->entries));
  // What cannot be kept will not be kept the next time either; that the job itself is gone is found
  // again by failing it.
  const bool is_refused =
      !done && done.error().code != ErrorCode::kNotNow && done.error().code != ErrorCode::kIo;
  return is_refused ? Fail(library, job, done.error()) : EndOf(done);
}

Result<JobOutcome> JsonOutcome(store::Library& library, const std::string& name,
                               std::string_view text) {
  EntryFile file;
  file.stored = TRY(library.KeepFile(text));
  file.name = name;
  file.role = FileRole::kResult;
  file.media_type = "application/json";
  return JobOutcome{{std::move(file)}, {}};
}

Result<JobList> ListJobs(store::Library& library, const JobFilter& filter,
                         const PageRequest& page) {
  auto jobs = TRY(library.ListJobs(filter, page));
  return JobList{MakeProvenance({library.name()}), std::move(jobs)};
}

}  // namespace beryl::flows
