#include "server/sessions.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "server/sessions_testing.h"
#include "store/store.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SessionsTest : public testing::Test, protected ScriptedSessions {};

TEST_F(SessionsTest, ReadsNothingUntilSomebodyAsksAndStopsAfterwards) {
  Open();
  EXPECT_FALSE(meters_.running());
  const auto started = sessions_->Start(me_, Own());
  ASSERT_TRUE(started);
  EXPECT_TRUE(meters_.running());
  EXPECT_EQ(meters_.watches(), 1u);
  EXPECT_EQ(started->period, Nanos{4'000'000});
  meters_.Tick(10);
  const auto stopped = sessions_->Stop(me_, started->id, false);
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(stopped->running);
  EXPECT_THAT(stopped->devices, SizeIs(1));
  EXPECT_NEAR(ValueOrNan(stopped->devices[0].energy), 10, 1e-6);
  EXPECT_EQ(meters_.watches(), 0u);
  EXPECT_TRUE(Eventually([&] { return !meters_.running(); }));
}

TEST_F(SessionsTest, GoesAsFastAsTheFastestWants) {
  Open();
  SessionRequest slow = Own();
  slow.period = Nanos{100'000'000};
  const auto first = sessions_->Start(me_, slow);
  EXPECT_EQ(meters_.period(), Nanos{100'000'000});
  SessionRequest fast = Own();
  fast.period = Nanos{1'000'000};
  const auto second = sessions_->Start(me_, fast);
  EXPECT_EQ(meters_.period(), Nanos{1'000'000});
  EXPECT_EQ(meters_.starts(), 1);
  ASSERT_TRUE(first && second);
}

TEST_F(SessionsTest, ASessionSeesOnlyWhatWasReadWhileItRan) {
  Open();
  const auto first = sessions_->Start(me_, Own());
  meters_.Tick(5);
  const auto second = sessions_->Start(me_, Own());
  meters_.Tick(7);
  EXPECT_NEAR(ValueOrNan(sessions_->Stop(me_, first->id, false)->devices[0].energy), 12, 1e-6);
  meters_.Tick(1);
  EXPECT_NEAR(ValueOrNan(sessions_->Stop(me_, second->id, false)->devices[0].energy), 8, 1e-6);
}

TEST_F(SessionsTest, WindowsNestOverlapAndShareNames) {
  Open();
  const SessionId id = sessions_->Start(me_, Own())->id;
  const uint64_t outer = sessions_->OpenWindow(me_, id, "step")->window;
  meters_.Tick(2);
  const uint64_t inner = sessions_->OpenWindow(me_, id, "step")->window;
  meters_.Tick(3);
  const uint64_t other = sessions_->OpenWindow(me_, id, "other")->window;
  meters_.Tick(4);
  EXPECT_NE(outer, inner);
  EXPECT_NEAR(ValueOrNan(sessions_->CloseWindow(me_, id, inner)->energy), 7, 1e-6);
  meters_.Tick(5);
  const auto whole = sessions_->CloseWindow(me_, id, outer);
  EXPECT_NEAR(ValueOrNan(whole->energy), 14, 1e-6);
  EXPECT_EQ(whole->name, "step");
  EXPECT_NEAR(ValueOrNan(sessions_->CloseWindow(me_, id, other)->energy), 9, 1e-6);
  EXPECT_EQ(sessions_->CloseWindow(me_, id, other).error().code, ErrorCode::kNotFound);
}

TEST_F(SessionsTest, WindowsThatNobodyClosedEndWithTheSession) {
  Open();
  const SessionId id = sessions_->Start(me_, Own())->id;
  ASSERT_TRUE(sessions_->OpenWindow(me_, id, "left open"));
  meters_.Tick(5);
  EXPECT_EQ(sessions_->Stop(me_, id, false)->open_windows, 0u);
  auto source = ByteSource::Open((*sessions_->Open(me_, id))->path());
  ASSERT_TRUE(source);
  store::StoredRun run;
  ASSERT_TRUE(store::Load(*source, {}, run));
  const auto& windows = run.recording->windows;
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].name, "left open");
}

TEST_F(SessionsTest, LimitsAreSaid) {
  SessionsOptions options;
  options.limits.sessions = 2;
  options.limits.pids = 1;
  options.limits.windows = 1;
  options.limits.name_bytes = 8;
  Open(options);
  SessionRequest many = Own();
  many.pids.push_back(getpid());
  EXPECT_EQ(sessions_->Start(me_, many).error().code, ErrorCode::kTooMuch);
  SessionRequest quick = Own();
  quick.period = Nanos{1000};
  EXPECT_THAT(sessions_->Start(me_, quick).error().message, HasSubstr("a period is from"));
  SessionRequest named = Own();
  named.name = "a very long name";
  EXPECT_EQ(sessions_->Start(me_, named).error().code, ErrorCode::kInvalid);
  const auto first = sessions_->Start(me_, Own());
  const auto second = sessions_->Start(me_, Own());
  const auto third = sessions_->Start(me_, Own());
  EXPECT_EQ(third.error().code, ErrorCode::kTooMuch);
  EXPECT_THAT(third.error().message, HasSubstr("limit of sessions"));
  ASSERT_TRUE(sessions_->OpenWindow(me_, first->id, "one"));
  EXPECT_EQ(sessions_->OpenWindow(me_, first->id, "two").error().code, ErrorCode::kTooMuch);
  ASSERT_TRUE(sessions_->Stop(me_, second->id, true));
  EXPECT_TRUE(sessions_->Start(me_, Own()));
  EXPECT_EQ(sessions_->Live().sessions_refused, 4u);
}

TEST_F(SessionsTest, ASessionThatGrowsTooBigEnds) {
  SessionsOptions options;
  options.limits.bytes = 100;  // less than the head of a file
  Open(options);
  ASSERT_TRUE(sessions_->Start(me_, Own()));
  meters_.Tick(2000);  // scripted time passes with the ticks: a write is due
  EXPECT_TRUE(Eventually([&] { return !sessions_->List(me_)[0].running; }));
  EXPECT_THAT(sessions_->List(me_)[0].ended_because, HasSubstr("limit"));
  // What is logged is said after the session has ended.
  EXPECT_TRUE(Eventually([&] { return log().find("limit") != std::string::npos; }));
}

TEST_F(SessionsTest, OthersDoNotSeeASessionButRootDoes) {
  Open({}, {"/proc", geteuid(), true});
  const Caller other{me_.uid + 1000, 7};
  const Caller root{0, 8};
  sessions_->ConnectionOpened(other.connection);
  const SessionId id = sessions_->Start(me_, Own())->id;
  EXPECT_EQ(sessions_->Stop(other, id, false).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(sessions_->Open(other, id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(sessions_->Stream(other, id, {}).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(sessions_->List(other), IsEmpty());
  EXPECT_THAT(sessions_->List(root), SizeIs(1));
  EXPECT_EQ(sessions_->Start(other, Own()).error().code, ErrorCode::kForbidden);
  EXPECT_EQ(meters_.watches(), 1u);
  EXPECT_TRUE(sessions_->Stop(root, id, false));
}

TEST_F(SessionsTest, EndsWithTheConnectionUnlessKept) {
  Open();
  SessionRequest kept = Own();
  kept.keep = true;
  const SessionId mortal = sessions_->Start(me_, Own())->id;
  const SessionId immortal = sessions_->Start(me_, kept)->id;
  sessions_->ConnectionClosed(99);
  EXPECT_TRUE(sessions_->List(me_)[0].running);
  sessions_->ConnectionClosed(me_.connection);
  const auto list = sessions_->List(me_);
  EXPECT_EQ(list[0].id, mortal);
  EXPECT_FALSE(list[0].running);
  EXPECT_THAT(list[0].ended_because, HasSubstr("went away"));
  EXPECT_EQ(list[1].id, immortal);
  EXPECT_TRUE(list[1].running);
}

TEST_F(SessionsTest, ForgetsWhatNobodyAsksFor) {
  SessionsOptions options;
  options.limits.forget_after = Nanos{1};
  Open(options);
  const SessionId id = sessions_->Start(me_, Own())->id;
  ASSERT_TRUE(sessions_->Stop(me_, id, false));
  EXPECT_TRUE(Eventually([&] { return sessions_->List(me_).empty(); }));
  EXPECT_EQ(sessions_->Open(me_, id).error().code, ErrorCode::kNotFound);
}

TEST_F(SessionsTest, AStreamBringsBatchesAndSaysWhenItIsOver) {
  Open();
  const SessionId id = sessions_->Start(me_, Own())->id;
  StreamOptions options;
  options.every = Nanos{10'000'000};
  const auto queue = *sessions_->Stream(me_, id, options);
  meters_.Tick(20);
  std::optional<LiveBatch> batch;
  ASSERT_TRUE(Eventually([&] {
    batch = queue->Take();
    return batch.has_value();
  }));
  EXPECT_EQ(batch->lost_batches, 0u);
  ASSERT_THAT(batch->channels, SizeIs(1));
  EXPECT_NEAR(ValueOrNan(batch->channels[0].power), 1000, 1e-6);
  EXPECT_THAT(batch->readings.channels[0].times, SizeIs(6));  // every 4 ms, from the start on
  ASSERT_TRUE(sessions_->Stop(me_, id, false));
  ASSERT_TRUE(Eventually([&] {
    batch = queue->Take();
    return batch && batch->last;
  }));
}

TEST_F(SessionsTest, ASlowClientLosesOldBatchesAndIsTold) {
  BatchQueue queue(3);
  for (int i = 0; i < 10; ++i) {
    LiveBatch batch;
    batch.time = Nanos{i};
    queue.Push(batch);
  }
  const auto first = queue.Take();
  EXPECT_EQ(first->time, Nanos{7});
  EXPECT_EQ(first->lost_batches, 7u);
  EXPECT_EQ(queue.Take()->lost_batches, 0u);
  queue.Detach();
  EXPECT_EQ(queue.Take(), std::nullopt);
}

TEST_F(SessionsTest, AStreamMayTakeItsSessionWithIt) {
  Open();
  const SessionId id = sessions_->Start(me_, Own())->id;
  StreamOptions options;
  options.stop_when_gone = true;
  const auto queue = *sessions_->Stream(me_, id, options);
  queue->Detach();
  EXPECT_TRUE(Eventually([&] { return !sessions_->List(me_)[0].running; }));
}

TEST_F(SessionsTest, GoesSlowerWhenTheFastestIsOver) {
  Open();
  SessionRequest slow = Own();
  slow.period = Nanos{100'000'000};
  ASSERT_TRUE(sessions_->Start(me_, slow));
  const auto fast = sessions_->Start(me_, Own());
  EXPECT_EQ(meters_.period(), Nanos{4'000'000});
  ASSERT_TRUE(sessions_->Stop(me_, fast->id, false));
  EXPECT_EQ(meters_.period(), Nanos{100'000'000});
}

TEST_F(SessionsTest, AConnectionThatIsClosedStartsNothing) {
  Open();
  sessions_->ConnectionClosed(me_.connection);
  EXPECT_EQ(sessions_->Start(me_, Own()).error().code, ErrorCode::kNotNow);
  EXPECT_EQ(meters_.watches(), 0u);
}

TEST_F(SessionsTest, UsersAndTheDiskHaveLimits) {
  SessionsOptions options;
  options.limits.sessions_of_user = 2;
  options.limits.kept_of_user = 1;
  options.limits.all_bytes = 5'000;
  Open(options);
  const SessionId first = sessions_->Start(me_, Own())->id;
  const SessionId second = sessions_->Start(me_, Own())->id;
  EXPECT_THAT(sessions_->Start(me_, Own()).error().message,
              HasSubstr("limit of sessions of one user"));
  ASSERT_TRUE(sessions_->Stop(me_, first, false));
  ASSERT_TRUE(sessions_->Stop(me_, second, false));
  EXPECT_TRUE(Eventually([&] { return sessions_->List(me_).size() == 1; }));
  EXPECT_EQ(sessions_->List(me_)[0].id, second);
  const SessionId third = sessions_->Start(me_, Own())->id;
  for (int i = 0; i < 100; ++i) {
    meters_.Tick(100);
    (void)sessions_->Open(me_, third);  // writes them down
  }
  EXPECT_TRUE(Eventually([&] { return !sessions_->List(me_).back().running; }));
  EXPECT_THAT(sessions_->List(me_).back().ended_because, HasSubstr("all sessions together"));
  EXPECT_EQ(sessions_->Open(me_, second).error().code, ErrorCode::kNotFound);
}

TEST_F(SessionsTest, WhoListensToTheLogHoldsNobodyUp) {
  SessionsOptions options;
  std::atomic<int> said = 0;
  options.log = [&](const std::string&) {
    (void)sessions_->List(me_);  // would wait for ever if it were said under the lock
    ++said;
  };
  sessions_ = std::make_unique<Sessions>(meters_, OwnGuard(), options);
  sessions_->ConnectionOpened(1);
  ASSERT_TRUE(sessions_->Start(me_, Own()));
  sessions_->ConnectionClosed(1);
  EXPECT_EQ(said, 1);
}

TEST_F(SessionsTest, OfTooManyReadingsSomeAreLostAndThatIsSaid) {
  Open();
  SessionRequest fast = Own();
  fast.period = Nanos{1'000'000};
  const SessionId id = sessions_->Start(me_, fast)->id;
  StreamOptions options;
  options.every = Nanos{1'000'000'000'000'000};
  const auto queue = *sessions_->Stream(me_, id, options);
  for (int i = 0; i < 4; ++i) {
    meters_.Tick(100'000);
    ASSERT_TRUE(sessions_->Open(me_, id));
  }
  ASSERT_TRUE(sessions_->Stop(me_, id, false));
  std::optional<LiveBatch> batch;
  uint64_t lost = 0;
  while ((batch = queue->Take())) {
    lost += batch->lost_readings;
    EXPECT_LE(BytesOf(batch->readings), BatchQueue::kMostBytes);
  }
  EXPECT_GT(lost, 0u);
}

TEST_F(SessionsTest, ReadsOnSlowlyForExporters) {
  SessionsOptions options;
  options.idle_period = Nanos{1'000'000'000};
  Open(options);
  EXPECT_TRUE(meters_.running());
  EXPECT_EQ(meters_.period(), Nanos{1'000'000'000});
  meters_.Tick(300);  // a package: told every 100 ms
  EXPECT_TRUE(Eventually([&] {
    const LivePower live = sessions_->Live();
    return live.channels.size() == 1 && ValueOrNan(live.channels[0].energy) > 150;
  }));
  const SessionId id = sessions_->Start(me_, Own())->id;
  EXPECT_EQ(meters_.period(), Nanos{4'000'000});
  ASSERT_TRUE(sessions_->Stop(me_, id, false));
  EXPECT_TRUE(Eventually([&] { return meters_.period() == Nanos{1'000'000'000}; }));
  EXPECT_TRUE(meters_.running());
}

TEST_F(SessionsTest, ExportersAreToldOfSessionsOnlyIfAsked) {
  for (const bool tell : {false, true}) {
    SessionsOptions options;
    options.tell_sessions = tell;
    Open(options);
    const auto started = sessions_->Start(me_, Own());
    ASSERT_TRUE(started);
    meters_.Tick(500);
    ASSERT_TRUE(sessions_->Open(me_, started->id));  // writes them down
    const LivePower live = sessions_->Live();
    ASSERT_THAT(live.sessions, SizeIs(1));
    EXPECT_EQ(live.sessions[0].name, tell ? "test" : "");
    EXPECT_EQ(live.sessions[0].devices.empty(), !tell);
    sessions_.reset();
  }
}

TEST_F(SessionsTest, ManyThreadsStartAndStopManyAtATime) {
  Open();
  std::atomic<int> done = 0;
  std::atomic<bool> ticking = true;
  std::thread ticker([&] {
    while (ticking) {
      meters_.Tick(1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      for (int k = 0; k < 25; ++k) {
        const auto started = sessions_->Start(me_, Own());
        if (!started) continue;
        StreamOptions options;
        options.every = Nanos{1};
        const auto queue = sessions_->Stream(me_, started->id, options);
        const auto window = sessions_->OpenWindow(me_, started->id, "w");
        if (window) (void)sessions_->CloseWindow(me_, started->id, window->window);
        (void)sessions_->Live();
        if (queue) (*queue)->Detach();
        if (sessions_->Stop(me_, started->id, true)) ++done;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  ticking = false;
  ticker.join();
  EXPECT_EQ(done, 200);
  EXPECT_EQ(meters_.watches(), 0u);
  EXPECT_THAT(sessions_->List(me_), IsEmpty());
}

}  // namespace
}  // namespace beryl::server
