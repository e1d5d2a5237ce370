#include "server/sessions.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/scripted_meters_testing.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Waits for something that a thread brings about; machines are noisy, so for long.
bool Eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

class SessionsTest : public testing::Test {
 protected:
  void Open(SessionsOptions options = {}, Guard guard = OwnGuard()) {
    options.drain_every = Nanos{2'000'000};
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    sessions_ = std::make_unique<Sessions>(meters_, guard, options);
    sessions_->ConnectionOpened(me_.connection);
  }
  static Guard OwnGuard() { return {"/proc", geteuid(), true}; }
  SessionRequest Own() const { return {{getpid()}, {}, "test", false}; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  ScriptedMeters meters_;
  std::mutex mutex_;
  std::string log_;
  Caller me_{geteuid(), 1};
  std::unique_ptr<Sessions> sessions_;
};

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
  EXPECT_EQ(stopped->devices[0].energy, Joules{10});
  EXPECT_EQ(stopped->devices[0].ours, Joules{5});
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
  EXPECT_EQ(sessions_->Stop(me_, first->id, false)->devices[0].energy, Joules{12});
  meters_.Tick(1);
  EXPECT_EQ(sessions_->Stop(me_, second->id, false)->devices[0].energy, Joules{8});
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
  EXPECT_EQ(sessions_->CloseWindow(me_, id, inner)->energy, Joules{7});
  meters_.Tick(5);
  const auto whole = sessions_->CloseWindow(me_, id, outer);
  EXPECT_EQ(whole->energy, Joules{14});
  EXPECT_EQ(whole->ours, Joules{7});
  EXPECT_EQ(whole->name, "step");
  EXPECT_EQ(sessions_->CloseWindow(me_, id, other)->energy, Joules{9});
  EXPECT_EQ(sessions_->CloseWindow(me_, id, other).refused().kind, Refusal::kNotFound);
}

TEST_F(SessionsTest, WindowsThatNobodyClosedEndWithTheSession) {
  Open();
  const SessionId id = sessions_->Start(me_, Own())->id;
  ASSERT_TRUE(sessions_->OpenWindow(me_, id, "left open"));
  const auto book = sessions_->Open(me_, id);
  EXPECT_EQ(sessions_->Stop(me_, id, false)->open_windows, 0u);
  const auto& windows = static_cast<const ScriptedBook&>(**book).windows;
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
  EXPECT_EQ(sessions_->Start(me_, many).refused().kind, Refusal::kTooMuch);
  SessionRequest quick = Own();
  quick.period = Nanos{1000};
  EXPECT_THAT(sessions_->Start(me_, quick).refused().message, HasSubstr("a period is from"));
  SessionRequest named = Own();
  named.name = "a very long name";
  EXPECT_EQ(sessions_->Start(me_, named).refused().kind, Refusal::kInvalid);
  const auto first = sessions_->Start(me_, Own());
  const auto second = sessions_->Start(me_, Own());
  const auto third = sessions_->Start(me_, Own());
  EXPECT_EQ(third.refused().kind, Refusal::kTooMuch);
  EXPECT_THAT(third.refused().message, HasSubstr("--limit-sessions"));
  ASSERT_TRUE(sessions_->OpenWindow(me_, first->id, "one"));
  EXPECT_EQ(sessions_->OpenWindow(me_, first->id, "two").refused().kind, Refusal::kTooMuch);
  ASSERT_TRUE(sessions_->Stop(me_, second->id, true));
  EXPECT_TRUE(sessions_->Start(me_, Own()));
  EXPECT_EQ(sessions_->Live().sessions_refused, 4u);
}

TEST_F(SessionsTest, ASessionThatGrowsTooBigEnds) {
  SessionsOptions options;
  options.limits.bytes = 6;  // the scripted book begins with five
  Open(options);
  const SessionId id = sessions_->Start(me_, Own())->id;
  ASSERT_TRUE(sessions_->OpenWindow(me_, id, "writes"));
  ASSERT_TRUE(sessions_->OpenWindow(me_, id, "writes again"));
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
  EXPECT_EQ(sessions_->Stop(other, id, false).refused().kind, Refusal::kNotFound);
  EXPECT_EQ(sessions_->Open(other, id).refused().kind, Refusal::kNotFound);
  EXPECT_EQ(sessions_->Stream(other, id, {}).refused().kind, Refusal::kNotFound);
  EXPECT_THAT(sessions_->List(other), IsEmpty());
  EXPECT_THAT(sessions_->List(root), SizeIs(1));
  EXPECT_EQ(sessions_->Start(other, Own()).refused().kind, Refusal::kForbidden);
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
  EXPECT_EQ(sessions_->Open(me_, id).refused().kind, Refusal::kNotFound);
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
  EXPECT_EQ(batch->channels[0].power, Watts{42});
  EXPECT_THAT(batch->readings.channels[0].times, SizeIs(20));
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

TEST_F(SessionsTest, PublishedClientsStopAndReadWithoutSayingWhat) {
  Open();
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{4'000'000}));
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));  // ignored
  EXPECT_EQ(meters_.watches(), 1u);
  EXPECT_EQ(meters_.period(), Nanos{4'000'000});
  EXPECT_FALSE(sessions_->ReadPublished(me_, std::nullopt)->has_value());  // still measuring
  meters_.Tick(8);
  ASSERT_TRUE(sessions_->StopPublished(me_, std::nullopt));
  ASSERT_TRUE(sessions_->StopPublished(me_, std::nullopt));
  const auto first = sessions_->ReadPublished(me_, std::nullopt);
  ASSERT_TRUE(first->has_value());
  ASSERT_THAT(**first, SizeIs(1));
  EXPECT_GT((**first)[0]->bytes(), 0u);
  EXPECT_EQ(*sessions_->ReadPublished(me_, getpid()), *first);  // again
  EXPECT_THAT(**sessions_->ReadPublished({me_.uid + 1, 0}, std::nullopt), IsEmpty());
}

TEST_F(SessionsTest, PublishedSamplesAreKeptUntilTheyAreRead) {
  Open();
  const auto measure = [&](int ticks) {
    ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
    meters_.Tick(ticks);
    ASSERT_TRUE(sessions_->StopPublished(me_, std::nullopt));
  };
  const auto read = [&] {
    uint64_t bytes = 0;
    const auto answer = sessions_->ReadPublished(me_, std::nullopt);
    for (const auto& spool : **answer) bytes += spool->bytes();
    return bytes;
  };
  measure(10);
  const uint64_t one = read();
  EXPECT_EQ(read(), one);
  measure(10);
  measure(10);
  EXPECT_GE(read(), 2 * one);  // of both, and not what was read before
  EXPECT_LE(read(), 2 * one + 40);
  // A Start that is refused throws nothing away.
  EXPECT_FALSE(sessions_->StartPublished(me_, getpid(), Nanos{1}));
  EXPECT_GE(read(), 2 * one);
}

TEST_F(SessionsTest, PublishedReadGivesNoOldSamplesWhileAnotherProcessIsMeasured) {
  Open();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
  ASSERT_TRUE(sessions_->StopPublished(me_, std::nullopt));
  ASSERT_TRUE(sessions_->StartPublished(me_, child, Nanos{1'000'000}));
  EXPECT_FALSE(sessions_->ReadPublished(me_, std::nullopt)->has_value());
  EXPECT_TRUE(sessions_->ReadPublished(me_, getpid())->has_value());
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
}

TEST_F(SessionsTest, ForgottenPublishedSamplesAreNoEmptySuccess) {
  SessionsOptions options;
  options.limits.forget_after = Nanos{1};
  Open(options);
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
  meters_.Tick(5);
  ASSERT_TRUE(sessions_->StopPublished(me_, std::nullopt));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_THAT(sessions_->List(me_), SizeIs(1));  // nobody has read it
  ASSERT_THAT(**sessions_->ReadPublished(me_, std::nullopt), SizeIs(1));
  EXPECT_TRUE(Eventually([&] { return sessions_->List(me_).empty(); }));
  EXPECT_EQ(sessions_->ReadPublished(me_, std::nullopt).refused().kind, Refusal::kNotFound);
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
  EXPECT_TRUE(sessions_->ReadPublished(me_, std::nullopt));
}

TEST_F(SessionsTest, PublishedSessionsWantTasksOftenAndReadingsAtBothEnds) {
  Open();
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{4'000'000}));
  EXPECT_EQ(meters_.longest_activity(), Nanos{50'000'000});
  EXPECT_EQ(meters_.reads_now(), 1);
  ASSERT_TRUE(sessions_->StopPublished(me_, std::nullopt));
  EXPECT_EQ(meters_.reads_now(), 2);
}

TEST_F(SessionsTest, PublishedSessionsThatComeLaterGetTasksOftenToo) {
  Open();
  ASSERT_TRUE(sessions_->Start(me_, Own()));
  EXPECT_EQ(meters_.longest_activity(), Nanos{500'000'000});
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{4'000'000}));
  const int before = meters_.reads_now();
  meters_.Tick(100);  // scripted time passes, without a sample of tasks since
  EXPECT_TRUE(Eventually([&] {
    meters_.Skip(100);
    return meters_.reads_now() > before;
  }));
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
  EXPECT_EQ(sessions_->Start(me_, Own()).refused().kind, Refusal::kNotNow);
  EXPECT_EQ(meters_.watches(), 0u);
}

TEST_F(SessionsTest, UsersAndTheDiskHaveLimits) {
  SessionsOptions options;
  options.limits.sessions_of_user = 2;
  options.limits.kept_of_user = 1;
  options.limits.all_bytes = 20;  // a scripted book begins with five
  Open(options);
  const SessionId first = sessions_->Start(me_, Own())->id;
  const SessionId second = sessions_->Start(me_, Own())->id;
  EXPECT_THAT(sessions_->Start(me_, Own()).refused().message, HasSubstr("--limit-user"));
  ASSERT_TRUE(sessions_->Stop(me_, first, false));
  ASSERT_TRUE(sessions_->Stop(me_, second, false));
  EXPECT_TRUE(Eventually([&] { return sessions_->List(me_).size() == 1; }));
  EXPECT_EQ(sessions_->List(me_)[0].id, second);
  const SessionId third = sessions_->Start(me_, Own())->id;
  for (int i = 0; i < 30; ++i) (void)sessions_->Open(me_, third);  // each writes a byte
  EXPECT_TRUE(Eventually([&] { return !sessions_->List(me_).back().running; }));
  EXPECT_THAT(sessions_->List(me_).back().ended_because, HasSubstr("all sessions together"));
  EXPECT_EQ(sessions_->Open(me_, second).refused().kind, Refusal::kNotFound);
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
  const SessionId id = sessions_->Start(me_, Own())->id;
  StreamOptions options;
  options.every = Nanos{1'000'000'000'000'000};
  const auto queue = *sessions_->Stream(me_, id, options);
  for (int i = 0; i < 4; ++i) {
    meters_.Put({Nanos{1'700'000'000'000'000'000}, {{sources::ReadState::kOk, 1}}, {}, {}});
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

TEST_F(SessionsTest, APublishedSessionEndsWithItsProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  Open();
  ASSERT_TRUE(sessions_->StartPublished(me_, child, Nanos{4'000'000}));
  ::kill(child, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return !sessions_->List(me_)[0].running; }));
  EXPECT_THAT(sessions_->List(me_)[0].ended_because, HasSubstr("process ended"));
  int status = 0;
  ::waitpid(child, &status, 0);
}

TEST_F(SessionsTest, ReadsOnSlowlyForExporters) {
  SessionsOptions options;
  options.idle_period = Nanos{1'000'000'000};
  Open(options);
  EXPECT_TRUE(meters_.running());
  EXPECT_EQ(meters_.period(), Nanos{1'000'000'000});
  meters_.Tick(3);
  EXPECT_TRUE(Eventually([&] {
    const LivePower live = sessions_->Live();
    return live.channels.size() == 1 && live.channels[0].energy == Joules{3};
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
    ASSERT_TRUE(sessions_->Start(me_, Own()));
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
