#include "server/socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

class Socket : public testing::Test {
 protected:
  Socket() {
    folder_ = (std::filesystem::temp_directory_path() / "beryl-socket-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~Socket() override { std::filesystem::remove_all(folder_); }
  static mode_t ModeOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  std::string folder_;
};

TEST_F(Socket, EverybodyMayConnect) {
  const mode_t before = ::umask(0077);
  Address address = *ParseAddress("unix:" + folder_ + "/s");
  const auto listener = Listen(address);
  ::umask(before);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_EQ(ModeOf(folder_ + "/s"), 0666u);
  ::close(*listener);
}

TEST_F(Socket, WhatALinkNamesKeepsItsPermissions) {
  const std::string secret = folder_ + "/secret";
  ::close(::open(secret.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_EQ(::symlink(secret.c_str(), (folder_ + "/s").c_str()), 0);
  EXPECT_NE(LetEverybodyConnect(folder_ + "/s"), 0);
  EXPECT_NE(LetEverybodyConnect(secret), 0);
  EXPECT_EQ(ModeOf(secret), 0600u);
  Address address = *ParseAddress("unix:" + folder_ + "/s");
  EXPECT_FALSE(Listen(address));  // nor is what the link names replaced
  EXPECT_EQ(ModeOf(secret), 0600u);
}

TEST_F(Socket, TakesOverASocketThatNobodyServes) {
  Address address = *ParseAddress("unix:" + folder_ + "/s");
  const auto first = Listen(address);
  ASSERT_TRUE(first);
  EXPECT_FALSE(Listen(address));
  ::close(*first);
  const auto second = Listen(address);
  ASSERT_TRUE(second);
  ::close(*second);
}

}  // namespace
}  // namespace beryl::server
