#include "server/caller.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "beryl-caller-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    const auto file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
  }
  std::string path(const std::string& name = "") const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string Status(int real, int effective, int saved) {
  return fmt::format("Name:\twork\nState:\tS (sleeping)\nUid:\t{}\t{}\t{}\t{}\nGid:\t0\t0\t0\t0\n",
                     real, effective, saved, effective);
}

// As Linux writes it: 127.0.0.1:40000 of user 1000 is connected to 127.0.0.1:50051.
constexpr const char* kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:C383 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n"
    "   1: 0100007F:C383 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2\n"
    "   2: 0100007F:9C40 0100007F:C383 01 00000000:00000000 00:00000000 00000000  1000        0 3\n"
    "   3: 0100007F:9C41 0100007F:C383 06 00000000:00000000 03:00000ECA 00000000     0        0 0\n"
    "   4: 0100007F:9C42 0100007F:C383 01 00000000:00000000 00:00000000 00000000     0        0 "
    "0\n";

TcpEnd End(uint16_t port) {
  TcpEnd end;
  end.address[0] = 127;
  end.address[3] = 1;
  end.port = port;
  return end;
}

TEST(Caller, IsWhoOwnsTheClientsEnd) {
  EXPECT_EQ(OwnerOfConnection(kTable, End(40000), End(50051)), 1000u);
}

TEST(Caller, IsNobodyIfTheConnectionIsClosing) {
  EXPECT_EQ(OwnerOfConnection(kTable, End(40001), End(50051)), std::nullopt);
  EXPECT_EQ(OwnerOfConnection(kTable, End(40002), End(50051)), std::nullopt);
}

TEST(Caller, IsNobodyIfNoConnectionFits) {
  EXPECT_EQ(OwnerOfConnection(kTable, End(40000), End(50052)), std::nullopt);
  EXPECT_EQ(OwnerOfConnection(kTable, End(1), End(50051)), std::nullopt);
  EXPECT_EQ(OwnerOfConnection("", End(40000), End(50051)), std::nullopt);
  EXPECT_EQ(OwnerOfConnection("rubbish\n 1: 2 3 01\n\n", End(40000), End(50051)), std::nullopt);
}

TEST(Caller, IsFoundByIpv6Too) {
  TcpEnd client;
  client.length = 16;
  client.address[15] = 1;
  client.port = 40000;
  TcpEnd server = client;
  server.port = 50051;
  const std::string table =
      "head\n 0: 00000000000000000000000001000000:9C40 00000000000000000000000001000000:C383 01 "
      "00000000:00000000 00:00000000 00000000  1001        0 77 1\n";
  EXPECT_EQ(OwnerOfConnection(table, client, server), 1001u);
}

TEST(Guard, LetsAUserWatchHisOwnAndRootAll) {
  const Folder procfs;
  procfs.Write("10/status", Status(1000, 1000, 1000));
  procfs.Write("20/status", Status(0, 0, 0));
  procfs.Write("30/status", Status(1000, 0, 0));  // a set-user-id program
  const Guard guard{procfs.path(), 0, true};
  EXPECT_TRUE(guard.MayWatch({1000}, 10));
  EXPECT_EQ(guard.MayWatch({1000}, 20).error().code, ErrorCode::kForbidden);
  EXPECT_EQ(guard.MayWatch({1000}, 30).error().code, ErrorCode::kForbidden);
  EXPECT_EQ(guard.MayWatch({1001}, 10).error().code, ErrorCode::kForbidden);
  EXPECT_TRUE(guard.MayWatch({0}, 10));
  EXPECT_TRUE(guard.MayWatch({0}, 20));
  EXPECT_EQ(guard.MayWatch({0}, 99).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(guard.MayWatch({0}, -1).error().code, ErrorCode::kInvalid);
}

TEST(Guard, OfAnOrdinaryUserServesThatUserOnly) {
  const Folder procfs;
  procfs.Write("10/status", Status(1000, 1000, 1000));
  procfs.Write("11/status", Status(1001, 1001, 1001));
  const Guard guard{procfs.path(), 1000, false};
  EXPECT_TRUE(guard.MayWatch({1000}, 10));
  EXPECT_TRUE(guard.MayWatch({0}, 10));
  EXPECT_EQ(guard.MayWatch({0}, 11).error().code, ErrorCode::kForbidden);
  EXPECT_EQ(guard.MayWatch({1001}, 11).error().code, ErrorCode::kForbidden);
}

TEST(Guard, KnowsZombiesFromTheLiving) {
  const Folder procfs;
  std::string rest;
  for (int i = 0; i < 50; ++i) rest += " 1";
  procfs.Write("10/stat", "10 (x) S" + rest);
  procfs.Write("11/stat", "11 (x) Z" + rest);
  const Guard guard{procfs.path(), 0, true};
  EXPECT_TRUE(guard.IsRunning(10));
  EXPECT_FALSE(guard.IsRunning(11));
  EXPECT_FALSE(guard.IsRunning(12));
}

TEST(Token, HasToBeCarriedWhole) {
  const std::string token = "0123456789abcdef";
  EXPECT_TRUE(CarriesToken("Bearer 0123456789abcdef", token));
  for (const char* header : {"", "Bearer", "Bearer ", "0123456789abcdef", "bearer 0123456789abcdef",
                             "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0"}) {
    EXPECT_FALSE(CarriesToken(header, token)) << header;
  }
  EXPECT_FALSE(CarriesToken("Bearer ", ""));
}

TEST(Guard, OutOfDescriptorsIsNotNoSuchProcess) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const Guard guard{"/proc", geteuid(), true};
  // The first time that it formats a refusal, a sanitizer wants descriptors of its own.
  ASSERT_FALSE(guard.MayWatch({geteuid(), 1}, 0x3FFFFFFF));
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto allowed = guard.MayWatch({geteuid(), 1}, getpid());
  const bool running = guard.IsRunning(getpid());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(allowed);
  EXPECT_EQ(allowed.error().code, ErrorCode::kTooMuch);
  EXPECT_THAT(allowed.error().message, testing::HasSubstr("out of file descriptors"));
  EXPECT_TRUE(running);
}

}  // namespace
}  // namespace beryl::server
