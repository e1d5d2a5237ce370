#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/sessions_testing.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PublishedSessionsTest : public testing::Test, protected ScriptedSessions {};

TEST_F(PublishedSessionsTest, PublishedClientsStopAndReadWithoutSayingWhat) {
  Open();
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{4'000'000}));
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));  // ignored
  EXPECT_EQ(meters_.watches(), 1u);
  EXPECT_EQ(meters_.period(), Nanos{4'000'000});
  EXPECT_FALSE(sessions_->ReadPublished(me_, std::nullopt)->has_value());  // still measuring
  meters_.Tick(8);
  sessions_->StopPublished(me_, std::nullopt);
  sessions_->StopPublished(me_, std::nullopt);
  const auto first = sessions_->ReadPublished(me_, std::nullopt);
  ASSERT_TRUE(first->has_value());
  ASSERT_THAT(**first, SizeIs(1));
  EXPECT_GT((**first)[0]->bytes(), 0u);
  EXPECT_EQ(*sessions_->ReadPublished(me_, getpid()), *first);  // again
  EXPECT_THAT(**sessions_->ReadPublished({me_.uid + 1, 0}, std::nullopt), IsEmpty());
}

TEST_F(PublishedSessionsTest, PublishedSamplesAreKeptUntilTheyAreRead) {
  Open();
  const auto measure = [&](int ticks) {
    ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
    meters_.Tick(ticks);
    sessions_->StopPublished(me_, std::nullopt);
  };
  const auto read = [&] {
    uint64_t bytes = 0;
    const auto answer = sessions_->ReadPublished(me_, std::nullopt);
    for (const auto& samples : **answer) bytes += samples->bytes();
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

TEST_F(PublishedSessionsTest, PublishedReadGivesNoOldSamplesWhileAnotherProcessIsMeasured) {
  Open();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
  sessions_->StopPublished(me_, std::nullopt);
  ASSERT_TRUE(sessions_->StartPublished(me_, child, Nanos{1'000'000}));
  EXPECT_FALSE(sessions_->ReadPublished(me_, std::nullopt)->has_value());
  EXPECT_TRUE(sessions_->ReadPublished(me_, getpid())->has_value());
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
}

TEST_F(PublishedSessionsTest, ForgottenPublishedSamplesAreNoEmptySuccess) {
  SessionsOptions options;
  options.limits.forget_after = Nanos{1};
  Open(options);
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
  meters_.Tick(5);
  sessions_->StopPublished(me_, std::nullopt);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_THAT(sessions_->List(me_), SizeIs(1));  // nobody has read it
  ASSERT_THAT(**sessions_->ReadPublished(me_, std::nullopt), SizeIs(1));
  EXPECT_TRUE(Eventually([&] { return sessions_->List(me_).empty(); }));
  EXPECT_EQ(sessions_->ReadPublished(me_, std::nullopt).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{1'000'000}));
  EXPECT_TRUE(sessions_->ReadPublished(me_, std::nullopt));
}

TEST_F(PublishedSessionsTest, PublishedSessionsWantTasksOftenAndReadingsAtBothEnds) {
  Open();
  ASSERT_TRUE(sessions_->StartPublished(me_, getpid(), Nanos{4'000'000}));
  EXPECT_EQ(meters_.longest_activity(), Nanos{50'000'000});
  EXPECT_EQ(meters_.reads_now(), 1);
  sessions_->StopPublished(me_, std::nullopt);
  EXPECT_EQ(meters_.reads_now(), 2);
}

TEST_F(PublishedSessionsTest, PublishedSessionsThatComeLaterGetTasksOftenToo) {
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

TEST_F(PublishedSessionsTest, APublishedSessionEndsWithItsProcess) {
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

}  // namespace
}  // namespace beryl::server
