#include "server/job_workers.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "flows/open_library.h"

namespace beryl::server {
namespace {

using namespace std::chrono_literals;

class JobWorkersTest : public testing::Test, protected FolderForTest {
 protected:
  JobWorkersTest() : library_(*flows::OpenLibrary((folder_ / "library").string())) {}

  std::string Queue() { return library_->Enqueue("work", R"({"parameters":{}})")->id; }
  std::unique_ptr<JobWorkers> Employ(size_t workers, flows::JobTask task) {
    return std::make_unique<JobWorkers>(
        *library_, workers, [task = std::move(task)](const LibraryJob&) { return task; },
        [](const std::string& what) { ADD_FAILURE() << what; });
  }
  template <typename Condition>
  static void WaitFor(const Condition& condition) {
    const auto late = std::chrono::steady_clock::now() + 30s;
    while (!condition() && std::chrono::steady_clock::now() < late) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(condition());
  }

  std::unique_ptr<store::Library> library_;
};

TEST_F(JobWorkersTest, DoWhatWaitsAndWhatComes) {
  Queue();
  std::atomic<int> niceness = 0;
  const auto workers = Employ(2, {"working", [&](WorkWatch&) -> Result<flows::JobOutcome> {
                                    niceness = ::getpriority(PRIO_PROCESS, 0);
                                    return flows::JobOutcome();
                                  }});
  WaitFor([&] { return library_->Count()->done == 1; });
  // Sooner than they look by themselves.
  for (int i = 0; i < 20; ++i) {
    Queue();
    workers->Wake();
  }
  WaitFor([&] { return library_->Count()->done == 21; });
  EXPECT_EQ(niceness, 19);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), 0);
}

TEST_F(JobWorkersTest, DoSeveralAtATimeAndGiveThemBack) {
  for (int i = 0; i < 3; ++i) Queue();
  std::atomic<int> running = 0;
  auto workers = Employ(2, {"waiting", [&](WorkWatch& watch) -> Result<flows::JobOutcome> {
                              ++running;
                              while (watch.CheckGoesOn()) std::this_thread::sleep_for(1ms);
                              return Error{ErrorCode::kNotNow, "stopped"};
                            }});
  WaitFor([&] { return running == 2; });
  EXPECT_EQ(library_->Count()->running, 2U);
  workers.reset();
  EXPECT_EQ(running, 2);
  EXPECT_EQ(library_->Count()->queued, 3U);
}

}  // namespace
}  // namespace beryl::server
