#include <set>

#include <gmock/gmock.h>

#include "store/library/library_for_test.h"

namespace beryl::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class JobsTest : public EitherLibrary {
 protected:
  std::string Queue(const std::string& kind) {
    const auto job = library_->Enqueue(kind, R"({"a":1})");
    EXPECT_TRUE(job) << job.error().message;
    return job ? job->id : "";
  }
  std::vector<std::string> EventsOf(const std::string& id, int64_t after = 0) {
    std::vector<std::string> names;
    const auto events = library_->EventsAfter(id, after);
    EXPECT_TRUE(events) << events.error().message;
    if (events) {
      for (const JobEvent& event : *events) {
        EXPECT_EQ(event.id, ++after);
        names.push_back(event.name);
      }
    }
    return names;
  }
};
BERYL_IN_EITHER_LIBRARY(JobsTest);

TEST_P(JobsTest, RunsAJobToItsEnd) {
  const EntryFile input = Keep("what it needs", FileRole::kOther);
  const auto queued = library_->Enqueue("train", R"({"a":1})", {input});
  ASSERT_TRUE(queued) << queued.error().message;
  EXPECT_EQ(queued->state, JobState::kQueued);
  EXPECT_THAT(queued->files, ElementsAre(input));
  const auto claimed = library_->ClaimJob();
  ASSERT_TRUE(claimed) << claimed.error().message;
  ASSERT_TRUE(*claimed);
  EXPECT_EQ((*claimed)->id, queued->id);
  EXPECT_EQ((*claimed)->request, R"({"a":1})");
  EXPECT_EQ((*claimed)->attempts, 1U);
  EXPECT_TRUE((*claimed)->started);
  EXPECT_FALSE(*library_->ClaimJob());
  EXPECT_FALSE(*library_->ReportJob(queued->id, {3, 10, "folds"}));
  EXPECT_FALSE(*library_->KeepJob(queued->id));
  EntryFile result = Keep("the result", FileRole::kResult);
  result.media_type = "application/json";
  const auto done = library_->FinishJob(queued->id, {result});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->state, JobState::kDone);
  Reopen();
  const auto job = library_->GetJob(queued->id);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, JobState::kDone);
  EXPECT_EQ(job->progress.done, 3U);
  EXPECT_THAT(job->files, ElementsAre(input, result));
  EXPECT_TRUE(job->finished);
  EXPECT_THAT(EventsOf(job->id), ElementsAre("queued", "running", "progress", "done"));
  EXPECT_THAT(EventsOf(job->id, 2), ElementsAre("progress", "done"));
  EXPECT_EQ((*library_->EventsAfter(job->id, 2))[0].body,
            R"({"done":3,"total":10,"text":"folds"})");
  EXPECT_THAT((*library_->EventsAfter(job->id, 3))[0].body, HasSubstr(result.stored.digest));
  EXPECT_EQ(library_->FinishJob(job->id, {}).error().code, ErrorCode::kNotNow);
  EXPECT_EQ(library_->ReportJob(job->id, {}).error().code, ErrorCode::kNotNow);
  EXPECT_EQ(library_->GetJob("nothing").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(library_->EventsAfter("nothing", 0).error().code, ErrorCode::kNotFound);
  ExpectSound();
}

TEST_P(JobsTest, AddsWhatItMadeInTheMomentItEnds) {
  const std::string id = Queue("train");
  const EntryFile file = Keep("a profile", FileRole::kOther);
  LibraryEntry profile;
  profile.kind = EntryKind::kProfile;
  profile.name = "mine";
  profile.files = {file};
  LibraryEntry nothing;
  nothing.files = {{.stored = {std::string(64, '0'), 1}}};
  EXPECT_EQ(library_->FinishJob(id, {file}, {profile}).error().code, ErrorCode::kNotNow);
  ASSERT_TRUE(*library_->ClaimJob());
  // With a file that was never kept, nothing of it happens.
  EXPECT_EQ(library_->FinishJob(id, {file}, {profile, nothing}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(library_->Count()->profiles, 0U);
  EXPECT_EQ(library_->GetJob(id)->state, JobState::kRunning);
  ASSERT_TRUE(library_->FinishJob(id, {file}, {profile}));
  const auto job = library_->GetJob(id);
  ASSERT_THAT(job->entries, testing::SizeIs(1));
  EXPECT_EQ(job->entries[0].kind, EntryKind::kProfile);
  EXPECT_EQ(library_->Get(job->entries[0].id)->name, "mine");
  EXPECT_THAT(library_->EventsAfter(id, 0)->back().body, HasSubstr(job->entries[0].id));
  // The same again is the same entry.
  const std::string second = Queue("train");
  ASSERT_TRUE(*library_->ClaimJob());
  EXPECT_EQ(library_->FinishJob(second, {file}, {profile})->entries, job->entries);
  ExpectSound();
}

TEST_P(JobsTest, ClaimsTheOldestFirst) {
  const std::string first = Queue("a");
  const std::string second = Queue("b");
  EXPECT_EQ((*library_->ClaimJob())->id, first);
  EXPECT_EQ((*library_->ClaimJob())->id, second);
  EXPECT_FALSE(*library_->ClaimJob());
}

TEST_P(JobsTest, FailsAndCancels) {
  const std::string failing = Queue("a");
  ASSERT_TRUE(*library_->ClaimJob());
  const auto failed = library_->FailJob(failing, R"({"detail":"no such file"})");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error, R"({"detail":"no such file"})");
  EXPECT_THAT(EventsOf(failing), ElementsAre("queued", "running", "failed"));

  const std::string waiting = Queue("b");
  EXPECT_EQ(library_->CancelJob(waiting)->state, JobState::kCancelled);
  EXPECT_FALSE(*library_->ClaimJob());

  const std::string running = Queue("c");
  ASSERT_TRUE(*library_->ClaimJob());
  const auto asked = library_->CancelJob(running);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->state, JobState::kRunning);
  EXPECT_TRUE(asked->cancel_requested);
  EXPECT_TRUE(*library_->KeepJob(running));
  EXPECT_TRUE(*library_->ReportJob(running, {}));
  EXPECT_EQ(library_->EndCancelledJob(running)->state, JobState::kCancelled);
  EXPECT_EQ(library_->CancelJob(failing)->state, JobState::kFailed);
  EXPECT_EQ(library_->Count()->cancelled, 2U);
  EXPECT_EQ(library_->Count()->failed, 1U);
  ExpectSound();
}

TEST_P(JobsTest, GivesBack) {
  const std::string id = Queue("a");
  for (int time = 0; time < 5; ++time) {
    ASSERT_TRUE(*library_->ClaimJob());
    const auto given = library_->GiveBackJob(id);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->state, JobState::kQueued);
    EXPECT_EQ(given->attempts, 0U);
  }
}

TEST_P(JobsTest, TriesALostJobThreeTimes) {
  options_.lease = std::chrono::seconds(0);
  Reopen();
  const std::string id = Queue("a");
  for (uint32_t attempt = 1; attempt <= 3; ++attempt) {
    const auto claimed = library_->ClaimJob();
    ASSERT_TRUE(claimed) << claimed.error().message;
    ASSERT_TRUE(*claimed);
    EXPECT_EQ((*claimed)->attempts, attempt);
    Reopen();  // the next owner
    if (is_shared()) EXPECT_EQ(library_->FinishJob(id, {}).error().code, ErrorCode::kNotNow);
  }
  EXPECT_FALSE(*library_->ClaimJob());
  const auto job = library_->GetJob(id);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_THAT(job->error, HasSubstr("3 times"));
}

TEST_P(JobsTest, LeavesAJobToAServerThatIsHeardOf) {
  if (!is_shared()) GTEST_SKIP() << "a folder has one process";
  const std::string id = Queue("a");
  ASSERT_TRUE(*library_->ClaimJob());
  const auto other = Another();
  EXPECT_FALSE(*other->ClaimJob());
  EXPECT_EQ(other->KeepJob(id).error().code, ErrorCode::kNotNow);
  EXPECT_THAT(other->FailJob(id, "{}").error().message, HasSubstr("does not run here"));
  EXPECT_EQ(other->CancelJob(id)->state, JobState::kRunning);
  EXPECT_TRUE(*library_->KeepJob(id));
  EXPECT_TRUE(library_->FinishJob(id, {}));
}

TEST_P(JobsTest, GivesEachJobToOneOfManyThreads) {
  std::set<std::string> queued;
  for (int i = 0; i < 30; ++i) queued.insert(Queue("a"));
  const auto other = is_shared() ? Another() : nullptr;
  std::mutex mutex;
  std::multiset<std::string> done;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Library& library = other && thread % 2 == 0 ? *other : *library_;
      for (int empty = 0; empty < 3;) {
        const auto claimed = library.ClaimJob();
        ASSERT_TRUE(claimed) << claimed.error().message;
        if (!*claimed) {
          ++empty;
          continue;
        }
        ASSERT_TRUE(library.FinishJob((*claimed)->id, {}));
        const std::lock_guard lock(mutex);
        done.insert((*claimed)->id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(done.begin(), done.end()), queued);
  EXPECT_EQ(done.size(), queued.size());
  ExpectSound();
}

TEST_P(JobsTest, KeepsTheLastEvents) {
  const std::string id = Queue("a");
  ASSERT_TRUE(*library_->ClaimJob());
  for (uint64_t i = 0; i < 300; ++i) ASSERT_TRUE(library_->ReportJob(id, {i, 300, ""}));
  const auto events = library_->EventsAfter(id, 0);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->size(), 256U);
  EXPECT_EQ(events->back().id, 302);
  EXPECT_EQ(library_->GetJob(id)->last_event, 302);
}

TEST_P(JobsTest, ListsByStateAndKind) {
  for (int i = 0; i < 5; ++i) Queue(i % 2 == 0 ? "train" : "sweep");
  ASSERT_TRUE(*library_->ClaimJob());
  EXPECT_EQ(library_->ListJobs({}, {})->jobs.size(), 5U);
  EXPECT_EQ(library_->ListJobs({.kind = "train"}, {})->jobs.size(), 3U);
  EXPECT_EQ(library_->ListJobs({.state = JobState::kQueued, .kind = "train"}, {})->jobs.size(), 2U);
  const auto first = library_->ListJobs({}, {.size = 3});
  const auto second = library_->ListJobs({}, {.size = 3, .token = first->next_token});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->jobs.size(), 2U);
  EXPECT_TRUE(second->next_token.empty());
  EXPECT_EQ(second->jobs.back().kind, "train");
  EXPECT_FALSE(library_->ListJobs({.kind = "train"}, {.token = first->next_token}));
}

}  // namespace
}  // namespace beryl::store
