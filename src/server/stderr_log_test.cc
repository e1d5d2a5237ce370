#include "server/stderr_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

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
  EXPECT_EQ(line.size(), 4096u);
  EXPECT_EQ(line.back(), '\n');
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace beryl::server
