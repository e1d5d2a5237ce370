// What a user can take from the others, and see of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "server/sessions_testing.h"
#include "store/store.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;

// Process 4711 of user 1000, and 4712 of user 1001.
class StrangersTest : public testing::Test, protected ScriptedSessions {
 protected:
  StrangersTest() {
    procfs_ = testing::TempDir() + "beryl-strangers" + std::to_string(getpid());
    for (const auto& [pid, uid] : {std::pair(4711, 1000), std::pair(4712, 1001)}) {
      const std::string folder = procfs_ + "/" + std::to_string(pid);
      std::filesystem::create_directories(folder);
      const std::string id = "\t" + std::to_string(uid);
      std::ofstream(folder + "/status") << "Name:\twork\nUid:" << id << id << id << id << "\n";
    }
  }
  ~StrangersTest() override { std::filesystem::remove_all(procfs_); }
  void OpenForAll(const SessionsOptions& options) {
    Open(options, {procfs_, 0, true});
    sessions_->ConnectionOpened(stranger_.connection);
    sessions_->ConnectionOpened(other_.connection);
    sessions_->ConnectionOpened(root_.connection);
  }
  static SessionRequest Of(std::vector<int32_t> pids, int64_t period_ms = 4) {
    return {std::move(pids), Nanos{period_ms * 1'000'000}, "test", true};
  }
  std::string procfs_;
  const Caller stranger_{1000, 11};
  const Caller other_{1001, 12};
  const Caller root_{0, 13};
};

TEST_F(StrangersTest, TakeNoMoreThanTheirBudget) {
  SessionsOptions options;
  options.limits.readings_of_user = 1000;
  options.limits.tasks_of_user = 100;
  options.limits.streams_of_user = 3;
  OpenForAll(options);
  // Periods: a thousand readings a second.
  const auto fast = sessions_->Start(stranger_, Of({4711}, 1));
  ASSERT_TRUE(fast) << fast.error().message;
  const auto more = sessions_->Start(stranger_, Of({4711}));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kTooMuch);
  EXPECT_THAT(more.error().message, HasSubstr("1250 readings a second"));
  const auto others = sessions_->Start(other_, Of({4712}));
  EXPECT_TRUE(others);
  ASSERT_TRUE(sessions_->Stop(stranger_, fast->id, true));
  const auto first = sessions_->Start(stranger_, Of({4711}));
  const auto second = sessions_->Start(stranger_, Of({4711}));
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(meters_.watcher().is_confined);
  EXPECT_EQ(meters_.watcher().uid, 1000u);
  // Streams: of all of the user's sessions.
  std::vector<std::shared_ptr<BatchQueue>> queues;
  for (const SessionId id : {first->id, second->id, first->id}) {
    queues.push_back(*sessions_->Stream(stranger_, id, {}));
  }
  EXPECT_EQ(sessions_->Stream(stranger_, second->id, {}).error().code, ErrorCode::kTooMuch);
  EXPECT_TRUE(sessions_->Stream(other_, others->id, {}));
  queues[0]->Detach();
  EXPECT_TRUE(sessions_->Stream(stranger_, second->id, {}));
  // Threads: of those that run, some are in the sum of their process, and that is said.
  meters_.SetTasks(1000, 100);
  const auto full = sessions_->Start(stranger_, Of({4711}));
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("100 threads and processes"));
  EXPECT_TRUE(sessions_->Start(other_, Of({4712})));
  EXPECT_TRUE(sessions_->Start(root_, Of({4711})));
  EXPECT_FALSE(meters_.watcher().is_confined);
  meters_.Tick(10);
  ASSERT_TRUE(sessions_->Stop(stranger_, first->id, false));
  auto source = ByteSource::Open((*sessions_->Open(stranger_, first->id))->path());
  store::StoredRun run;
  ASSERT_TRUE(source && store::Load(*source, {}, run));
  const auto& notes = run.recording->notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const Note& note) { return note.kind == NoteKind::kTasksInSums; }));
}

TEST_F(StrangersTest, DoNotTakeRootsPlace) {
  SessionsOptions options;
  options.limits.sessions = 1;
  OpenForAll(options);
  ASSERT_TRUE(sessions_->Start(stranger_, Of({4711})));
  EXPECT_EQ(sessions_->Start(other_, Of({4712})).error().code, ErrorCode::kTooMuch);
  EXPECT_TRUE(sessions_->Start(root_, Of({4711})));
  sessions_.reset();
  options = {};
  options.limits.all_bytes = 1;  // a session has more from its start
  OpenForAll(options);
  ASSERT_TRUE(sessions_->Start(stranger_, Of({4711})));
  EXPECT_TRUE(sessions_->Start(root_, Of({4711})));
}

TEST_F(StrangersTest, LeaveTheLastDescriptorsToRoot) {
  SessionsOptions options;
  options.limits.descriptors = 0;
  OpenForAll(options);
  const auto refused = sessions_->Start(stranger_, Of({4711}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooMuch);
  EXPECT_THAT(refused.error().message, HasSubstr("file descriptors"));
  EXPECT_EQ(meters_.watches(), 0u);
  EXPECT_TRUE(sessions_->Start(root_, Of({4711})));
}

TEST_F(StrangersTest, FillTheirOwnShareOfTheDiskOnly) {
  SessionsOptions options;
  options.limits.bytes_of_user = 5'000;
  OpenForAll(options);
  const SessionId other = sessions_->Start(other_, Of({4712}))->id;
  ASSERT_TRUE(sessions_->Stop(other_, other, false));
  const SessionId id = sessions_->Start(stranger_, Of({4711}))->id;
  for (int i = 0; i < 100; ++i) {
    meters_.Tick(100);
    (void)sessions_->Open(stranger_, id);  // writes them down
  }
  EXPECT_TRUE(Eventually([&] { return !sessions_->List(stranger_)[0].running; }));
  EXPECT_THAT(sessions_->List(stranger_)[0].ended_because, HasSubstr("of its user"));
  EXPECT_TRUE(sessions_->Open(other_, other));
}

TEST_F(StrangersTest, GetCoarseReadingsOfTheMachine) {
  for (const auto coarse_for :
       {CoarseFor::kMachineSessions, CoarseFor::kAllSessions, CoarseFor::kNobody}) {
    SessionsOptions options;
    options.coarse_for = coarse_for;
    options.coarse_step = Joules{50};
    OpenForAll(options);
    meters_.Tick(1);
    const auto machine = sessions_->Start(stranger_, Of({}, 1));
    const auto own = sessions_->Start(stranger_, Of({4711}, 1));
    const auto of_root = sessions_->Start(root_, Of({}, 1));
    ASSERT_TRUE(machine && own && of_root);
    // Windows do not give more readings.
    for (int i = 0; i < 1000; ++i) {
      meters_.Tick(1);
      if (i % 10 != 0) continue;
      const auto window = sessions_->OpenWindow(stranger_, machine->id, "w");
      ASSERT_TRUE(window);
      ASSERT_TRUE(sessions_->CloseWindow(stranger_, machine->id, window->window));
    }
    const auto readings_of = [&](const Caller& caller, const SessionSummary& session) {
      EXPECT_TRUE(sessions_->Stop(caller, session.id, false));
      auto source = ByteSource::Open((*sessions_->Open(caller, session.id))->path());
      store::StoredRun run;
      EXPECT_TRUE(source && store::Load(*source, {}, run));
      return run.power.channels[0];
    };
    const PowerChannel of_machine = readings_of(stranger_, *machine);
    const PowerChannel of_own = readings_of(stranger_, *own);
    const bool is_coarse = coarse_for != CoarseFor::kNobody;
    EXPECT_EQ(machine->period, Nanos{is_coarse ? 100'000'000 : 1'000'000});
    EXPECT_EQ(of_machine.times.size() <= 11, is_coarse) << of_machine.times.size();
    EXPECT_EQ(of_machine.meter.per_count, is_coarse ? 50 : 1);
    EXPECT_EQ(of_own.times.size() <= 11, coarse_for == CoarseFor::kAllSessions);
    EXPECT_GT(readings_of(root_, *of_root).times.size(), 500u);
    sessions_.reset();
  }
}

}  // namespace
}  // namespace beryl::server
