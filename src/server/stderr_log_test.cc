#include "server/stderr_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string ReadSome(int fd) {
  std::string text(1 << 20, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

TEST(LineLog, LosesWhatNobodyReadsAndSaysHowMuch) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  LineLog log(pipe[1], "test: ");
  for (int i = 0; i < 1000; ++i) log.Say(std::string(1000, 'x'));  // a pipe takes 64 kB
  EXPECT_GT(log.lost(), 500u);
  EXPECT_THAT(ReadSome(pipe[0]), StartsWith("test: xxx"));
  log.Say("again");
  const std::string then = ReadSome(pipe[0]);
  EXPECT_THAT(then, HasSubstr("lines were lost"));
  EXPECT_THAT(then, HasSubstr("test: again\n"));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(LineLog, OutlivesItsReader) {
  std::signal(SIGPIPE, SIG_IGN);  // as the monitor does
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  LineLog log(pipe[1], "test: ");
  ::close(pipe[0]);
  log.Say("is anybody there?");
  EXPECT_EQ(log.lost(), 1u);
  ::close(pipe[1]);
}

TEST(LineLog, CutsLongLines) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  LineLog log(pipe[1], "");
  log.Say(std::string(100'000, 'x'));
  const std::string line = ReadSome(pipe[0]);
  EXPECT_EQ(line.size(), 4095u);
  EXPECT_EQ(line.back(), '\n');
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(LineLog, NobodyForgesALine) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  LineLog log(pipe[1], "test: ");
  log.Say("grpc: bad key 'x\ntest: all is well\r\x1b[2J\xff'");
  const std::string line = ReadSome(pipe[0]);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  for (const char letter : {'\r', '\x1b', '\xff'}) {
    EXPECT_EQ(line.find(letter), std::string::npos) << line;
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

// Others write to the same pipe: that it had room does not say that it still has.
TEST(LineLog, DoesNotBlockThoughOthersFillThePipe) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  auto log = std::make_unique<LineLog>(pipe[1], "test: ");
  // The pipe of the others still blocks: only our own way into it does not.
  EXPECT_EQ(::fcntl(pipe[1], F_GETFL) & O_NONBLOCK, 0);
  std::atomic<bool> over = false;
  std::thread filling([&] {
    const int other = ::open(("/proc/self/fd/" + std::to_string(pipe[1])).c_str(),
                             O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    while (!over) (void)!::write(other, "xxxxxxx", 7);
    ::close(other);
  });
  std::thread emptying([&] {
    while (!over) (void)ReadSome(pipe[0]);
  });
  for (int i = 0; i < 20'000; ++i) log->Say(std::string(2000, 'y'));
  over = true;
  filling.join();
  ::close(pipe[1]);
  log.reset();
  emptying.join();
  ::close(pipe[0]);
}

TEST(LineQuota, SaysAFewAtOnceAndThenAFewAMinute) {
  using std::chrono::seconds;
  LineQuota quota(2, seconds(10));
  const auto start = LineQuota::Clock::now();
  uint64_t unsaid = 7;
  EXPECT_TRUE(quota.Take(start, unsaid));
  EXPECT_EQ(unsaid, 0u);
  EXPECT_TRUE(quota.Take(start, unsaid));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(quota.Take(start + seconds(1), unsaid));
  EXPECT_TRUE(quota.Take(start + seconds(12), unsaid));
  EXPECT_EQ(unsaid, 5u);
  EXPECT_FALSE(quota.Take(start + seconds(13), unsaid));
  EXPECT_TRUE(quota.Take(start + seconds(1000), unsaid));
  EXPECT_TRUE(quota.Take(start + seconds(1000), unsaid));
  EXPECT_FALSE(quota.Take(start + seconds(1000), unsaid));
}

}  // namespace
}  // namespace beryl::server
