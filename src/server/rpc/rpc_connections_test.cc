#include <grpc/support/log.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/rpc/library_log.h"
#include "server/rpc/rpc_testing.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;

class RpcConnectionsTest : public testing::Test, protected ServedSessions {};

TEST_F(RpcConnectionsTest, WhoAsksIsWhoTheKernelSaysHeIs) {
  RpcServerOptions options;
  options.owner_of = [](int) { return std::optional<uint32_t>(geteuid() + 4321); };
  Open(std::move(options));
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  const grpc::Status status = Start(*stub, getpid(), &id);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << status.error_message();
}

TEST_F(RpcConnectionsTest, WhoCannotBeToldIsTurnedAway) {
  RpcServerOptions options;
  options.owner_of = [](int) { return std::optional<uint32_t>(); };
  Open(std::move(options));
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  EXPECT_EQ(Start(*stub, getpid(), &id).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(RpcConnectionsTest, ATakenAddressIsSaid) {
  Open();
  Sessions other(meters_, Guard{"/proc", geteuid(), true}, {});
  RpcServerOptions options;
  options.local = {server_->addresses()[1]};
  const auto again = RpcServer::Open(other, options);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("cannot listen on 127.0.0.1"));
  options.local = {server_->addresses()[0]};
  EXPECT_FALSE(RpcServer::Open(other, options));
}

TEST_F(RpcConnectionsTest, RubbishOnTheSocketHarmsNobody) {
  Open();
  for (int i = 0; i < 5; ++i) {
    const OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    server_->addresses()[0].path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string rubbish(1000, static_cast<char>(i * 37));
    (void)::send(fd.get(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
  }
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  EXPECT_TRUE(Start(*stub, getpid(), &id).ok());
}

TEST_F(RpcConnectionsTest, UsersComeAndGo) {
  std::atomic<uint32_t> uid = 1001;
  RpcServerOptions options;
  options.owner_of = [&](int) { return std::optional<uint32_t>(uid.load()); };
  options.most_users = 2;
  Open(std::move(options));
  const auto list = [](v1::Monitor::Stub& stub) {
    grpc::ClientContext context;
    v1::ListResponse response;
    return stub.List(&context, {}, &response);
  };
  for (; uid < 1010; ++uid) {
    auto stub = v1::Monitor::NewStub(Connect());
    EXPECT_TRUE(list(*stub).ok()) << uid;
    stub.reset();
    ASSERT_TRUE(Eventually([&] { return server_->connections() == 0; }));
  }
  // While they stay there is no room, but for root.
  auto first = v1::Monitor::NewStub(Connect());
  ASSERT_TRUE(list(*first).ok());
  ++uid;
  auto second = v1::Monitor::NewStub(Connect());
  ASSERT_TRUE(list(*second).ok());
  ++uid;
  EXPECT_EQ(list(*v1::Monitor::NewStub(Connect())).error_code(), grpc::StatusCode::UNAVAILABLE);
  uid = 0;
  EXPECT_TRUE(list(*v1::Monitor::NewStub(Connect())).ok());
}

TEST_F(RpcConnectionsTest, OneUserDoesNotTakeAllConnections) {
  RpcServerOptions options;
  options.owner_of = [](int) { return std::optional<uint32_t>(1001); };
  options.connections_of_user = 2;
  Open(std::move(options));
  std::vector<std::unique_ptr<v1::Monitor::Stub>> stubs;
  for (int i = 0; i < 3; ++i) {
    stubs.push_back(v1::Monitor::NewStub(Connect()));
    grpc::ClientContext context;
    v1::ListResponse response;
    EXPECT_EQ(stubs.back()->List(&context, {}, &response).ok(), i < 2);
  }
}

TEST_F(RpcConnectionsTest, TheLastDescriptorsAreForRoot) {
  std::atomic<uint32_t> uid = 1001;
  RpcServerOptions options;
  options.owner_of = [&](int) { return std::optional<uint32_t>(uid.load()); };
  options.descriptors = 3;  // all that come have higher numbers
  std::string said;
  options.log = [&](const std::string& what) { said += what; };
  Open(std::move(options));
  const auto list = [&] {
    grpc::ClientContext context;
    v1::ListResponse response;
    return v1::Monitor::NewStub(Connect())->List(&context, {}, &response);
  };
  EXPECT_EQ(list().error_code(), grpc::StatusCode::UNAVAILABLE);
  uid = 0;
  EXPECT_TRUE(list().ok());
  server_.reset();
  EXPECT_THAT(said, HasSubstr("kept for root"));
}

std::mutex g_lines_mutex;
std::vector<std::string> g_lines;

TEST_F(RpcConnectionsTest, WhatTheLibrariesSayGoesThroughOurLog) {
  TakeLibraryLogs([](const std::string& line) {
    const std::lock_guard lock(g_lines_mutex);
    g_lines.push_back(line);
  });
  testing::internal::CaptureStderr();
  Open();
  for (int i = 0; i < 100; ++i) gpr_log(GPR_ERROR, "%s", "bad key\nberyl monitor: forged");
  // A name that is not UTF-8, which protobuf complains about.
  auto channel = Connect();
  v1::StartRequest request;
  request.set_name("\xff\xfe");
  grpc::ClientContext context;
  v1::StartResponse response;
  (void)v1::Monitor::NewStub(channel)->Start(&context, request, &response);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const std::lock_guard lock(g_lines_mutex);
  ASSERT_FALSE(g_lines.empty());
  EXPECT_LE(g_lines.size(), 20u);
  EXPECT_THAT(g_lines, Contains(HasSubstr("grpc: bad key")));
}

TEST_F(RpcConnectionsTest, PassesOverUsualAddressesThatAreMissing) {
  RpcServerOptions options;
  options.local = {*ParseAddress("unix:" + folder_ + "/gone/s"), *ParseAddress("127.0.0.1:0")};
  options.skip_missing = true;
  std::string said;
  options.log = [&](const std::string& what) { said += what; };
  Open(options);
  EXPECT_EQ(server_->addresses().size(), 1u);
  EXPECT_THAT(said, HasSubstr("continuing without it"));
  options.local.pop_back();
  EXPECT_FALSE(RpcServer::Open(*sessions_, options));  // none is left
  options.local = {server_->addresses()[0], *ParseAddress("unix:" + folder_ + "/s")};
  EXPECT_FALSE(RpcServer::Open(*sessions_, options));  // what is taken is not missing
}

}  // namespace
}  // namespace beryl::server
