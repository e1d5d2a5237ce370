#include "flows/library_job.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "flows/open_library.h"

namespace beryl::flows {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

class LibraryJobTest : public testing::Test, protected FolderForTest {
 protected:
  LibraryJobTest() : library_(*OpenLibrary(folder_ / "library")) {}

  LibraryJob Claimed() {
    EXPECT_TRUE(library_->Enqueue("work", R"({"parameters":{}})"));
    const auto claimed = library_->ClaimJob();
    EXPECT_TRUE(claimed && *claimed);
    return **claimed;
  }
  LibraryJob After(const LibraryJob& job) { return *library_->GetJob(job.id); }
  std::vector<std::string> EventsOf(const LibraryJob& job) {
    std::vector<std::string> names;
    const auto events = *library_->EventsAfter(job.id, 0);
    for (const JobEvent& event : events) names.push_back(event.name);
    return names;
  }
  // Goes on until it is told to stop, as a long training does.
  static JobTask Endless(std::atomic<bool>* has_begun = nullptr) {
    return {"turning", [has_begun](WorkWatch& watch) -> Result<JobOutcome> {
              watch.Expect(1'000'000);
              if (has_begun != nullptr) *has_begun = true;
              while (watch.CheckGoesOn()) {
                watch.DoneOne();
                std::this_thread::sleep_for(1ms);
              }
              TRY(watch.CheckGoesOn());
              return JobOutcome();
            }};
  }
  static void WaitFor(const std::atomic<bool>& something) {
    while (!something) std::this_thread::sleep_for(1ms);
  }
  // Runs it without an end, but for what another thread does once it has begun.
  template <typename Act>
  void RunUntil(const LibraryJob& job, std::chrono::milliseconds pace, Act&& act) {
    std::atomic<bool> has_begun = false;
    std::thread other([&] {
      WaitFor(has_begun);
      act();
    });
    EXPECT_TRUE(RunJob(*library_, job, Endless(&has_begun), ending_.get_token(), pace));
    other.join();
  }

  std::unique_ptr<store::Library> library_;
  std::stop_source ending_;
};

TEST_F(LibraryJobTest, EndsWithItsResultAndWhatItMade) {
  const LibraryJob job = Claimed();
  const JobTask task = {"making", [&](WorkWatch& watch) -> Result<JobOutcome> {
                          watch.Expect(2);
                          watch.DoneOne();
                          auto outcome = TRY(JsonOutcome(*library_, "made.json", "{}"));
                          LibraryEntry entry;
                          entry.kind = EntryKind::kProfile;
                          entry.name = "made";
                          entry.files = outcome.results;
                          outcome.entries = {entry};
                          return outcome;
                        }};
  ASSERT_TRUE(RunJob(*library_, job, task, ending_.get_token()));
  const LibraryJob done = After(job);
  EXPECT_EQ(done.state, JobState::kDone);
  ASSERT_THAT(done.files, SizeIs(1));
  EXPECT_EQ(done.files[0].role, FileRole::kResult);
  EXPECT_EQ(done.files[0].media_type, "application/json");
  ASSERT_THAT(done.entries, SizeIs(1));
  EXPECT_EQ(library_->Get(done.entries[0].id)->name, "made");
  EXPECT_EQ(done.progress.text, "making");
  EXPECT_EQ(ListJobs(*library_, {}, {})->page.jobs.front().id, job.id);
}

TEST_F(LibraryJobTest, ReportsHowFarItIs) {
  const LibraryJob job = Claimed();
  const JobTask task = {"counting", [&](WorkWatch& watch) -> Result<JobOutcome> {
                          watch.Expect(3);
                          for (uint64_t piece = 1; piece <= 3; ++piece) {
                            watch.DoneOne();
                            while (After(job).progress.done < piece) std::this_thread::yield();
                          }
                          return JobOutcome();
                        }};
  ASSERT_TRUE(RunJob(*library_, job, task, ending_.get_token(), 1ms));
  const auto events = library_->EventsAfter(job.id, 2);
  EXPECT_THAT(events->back().name, "done");
  EXPECT_THAT((*events)[events->size() - 2].body,
              testing::StrEq(R"({"done":3,"total":3,"text":"counting"})"));
}

TEST_F(LibraryJobTest, FailsWithWhatWasWrong) {
  const LibraryJob wrong = Claimed();
  const Error error = InvalidError("there is nothing to learn from", {"leave"});
  ASSERT_TRUE(RunJob(*library_, wrong, error, ending_.get_token()));
  EXPECT_EQ(After(wrong).state, JobState::kFailed);
  EXPECT_EQ(After(wrong).error,
            R"({"detail":"there is nothing to learn from",)"
            R"("errors":[{"parameter":"leave","detail":"there is nothing to learn from"}]})");
  const LibraryJob thrown = Claimed();
  const JobTask throws = {
      "throwing", [](WorkWatch&) -> Result<JobOutcome> { throw std::runtime_error("oops"); }};
  ASSERT_TRUE(RunJob(*library_, thrown, throws, ending_.get_token()));
  EXPECT_EQ(After(thrown).state, JobState::kFailed);
  const LibraryJob greedy = Claimed();
  const JobTask takes_all = {"growing",
                             [](WorkWatch&) -> Result<JobOutcome> { throw std::bad_alloc(); }};
  ASSERT_TRUE(RunJob(*library_, greedy, takes_all, ending_.get_token()));
  EXPECT_THAT(After(greedy).error, HasSubstr("not enough memory"));
  // A result that was never kept.
  const LibraryJob lost = Claimed();
  const JobTask loses = {"losing", [](WorkWatch&) -> Result<JobOutcome> {
                           return JobOutcome{{{.stored = {std::string(64, 'a'), 1}}}, {}};
                         }};
  ASSERT_TRUE(RunJob(*library_, lost, loses, ending_.get_token()));
  EXPECT_EQ(After(lost).state, JobState::kFailed);
}

TEST_F(LibraryJobTest, IsCancelledWhileItRuns) {
  const LibraryJob job = Claimed();
  RunUntil(job, 1ms, [&] { EXPECT_TRUE(library_->CancelJob(job.id)); });
  EXPECT_EQ(After(job).state, JobState::kCancelled);
  EXPECT_EQ(EventsOf(job).back(), "cancelled");
}

TEST_F(LibraryJobTest, IsGivenBackWhenTheServerEnds) {
  const LibraryJob job = Claimed();
  RunUntil(job, 10s, [&] { ending_.request_stop(); });
  EXPECT_EQ(After(job).state, JobState::kQueued);
  EXPECT_EQ(After(job).attempts, 0U);
  EXPECT_THAT(EventsOf(job), ElementsAre("queued", "running", "progress", "queued"));
}

TEST_F(LibraryJobTest, StopsWhenAnotherHasTheJob) {
  const LibraryJob job = Claimed();
  RunUntil(job, 1ms, [&] {
    EXPECT_TRUE(library_->GiveBackJob(job.id));
    EXPECT_TRUE(library_->CancelJob(job.id));
  });
  EXPECT_EQ(After(job).state, JobState::kCancelled);
}

}  // namespace
}  // namespace beryl::flows
