#include "server/rpc/rpc_server.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/rpc/rpc_testing.h"

namespace beryl::server {
namespace {

namespace published = smaragdine::protos::sample;
using testing::HasSubstr;

size_t EntriesOf(const char* folder) {
  size_t count = 0;
  DIR* opened = ::opendir(folder);
  while (::readdir(opened) != nullptr) ++count;
  ::closedir(opened);
  return count;
}

class RpcServerTest : public testing::Test, protected ServedSessions {};

TEST_F(RpcServerTest, PublishedClientsWorkOnBothSockets) {
  Open();
  for (const size_t address : {size_t{0}, size_t{1}}) {
    auto stub = published::Sampler::NewStub(Connect(address));
    published::StartRequest start;
    start.set_pid(static_cast<uint64_t>(getpid()));
    start.set_period(4);
    published::StartResponse started;
    grpc::ClientContext a;
    const grpc::Status status = stub->Start(&a, start, &started);
    ASSERT_TRUE(status.ok()) << status.error_message();

    published::ReadResponse response;
    grpc::ClientContext b;
    ASSERT_TRUE(stub->Read(&b, {}, &response).ok());
    EXPECT_FALSE(response.has_data());  // still measuring

    meters_.Tick(9);
    published::StopResponse stopped;
    grpc::ClientContext c;
    ASSERT_TRUE(stub->Stop(&c, {}, &stopped).ok());
    for (int again = 0; again < 2; ++again) {
      grpc::ClientContext d;
      ASSERT_TRUE(stub->Read(&d, {}, &response).ok());
      ASSERT_TRUE(response.has_data());
      ASSERT_EQ(response.data().rapl_size(), 4);  // both ends, and every 4 ms
      const auto& first = response.data().rapl(0).reading(0);
      const auto& last = response.data().rapl(3).reading(0);
      EXPECT_EQ(last.package() - first.package(), 9'000'000u);
      EXPECT_FALSE(first.has_dram());
      EXPECT_EQ(response.data().nvml_size(), 0);
    }
  }
}

TEST_F(RpcServerTest, PublishedReadWithoutAnySessionGivesAnEmptyDataSet) {
  Open();
  auto stub = published::Sampler::NewStub(Connect());
  published::ReadResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub->Read(&context, {}, &response).ok());
  EXPECT_TRUE(response.has_data());
  published::StartResponse started;
  grpc::ClientContext other;
  EXPECT_EQ(stub->Start(&other, {}, &started).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(RpcServerTest, OwnSessionsAreReadStreamedCutAndDownloaded) {
  Open();
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  const grpc::Status status = Start(*stub, getpid(), &id);
  ASSERT_TRUE(status.ok()) << status.error_message();

  grpc::ClientContext streaming;
  v1::StreamRequest wanted;
  wanted.set_session(id);
  wanted.set_every_ns(50'000'000);
  auto stream = stub->Stream(&streaming, wanted);
  stream->WaitForInitialMetadata();  // the ticks below reach streams that are open by then

  v1::OpenWindowRequest open;
  open.set_session(id);
  open.set_name("step");
  v1::OpenWindowResponse opened;
  grpc::ClientContext a;
  ASSERT_TRUE(stub->OpenWindow(&a, open, &opened).ok());
  meters_.Tick(100);
  v1::CloseWindowRequest close;
  close.set_session(id);
  close.set_window(opened.window());
  v1::Window window;
  grpc::ClientContext b;
  ASSERT_TRUE(stub->CloseWindow(&b, close, &window).ok());
  EXPECT_NEAR(window.energy_j(), 100, 1e-6);

  v1::Batch batch;
  ASSERT_TRUE(stream->Read(&batch));
  ASSERT_EQ(batch.channels_size(), 1);
  EXPECT_NEAR(batch.channels(0).power_w(), 1000, 1e-6);
  EXPECT_EQ(batch.channels(0).source(), "rapl-powercap");

  v1::ReadRequest read;
  read.set_session(id);
  v1::ReadResponse measured;
  grpc::ClientContext c;
  ASSERT_TRUE(stub->Read(&c, read, &measured).ok());
  EXPECT_THAT(measured.json(), HasSubstr("seconds"));

  v1::Session session;
  ASSERT_TRUE(Stop(*stub, id, &session).ok());
  EXPECT_FALSE(session.running());
  EXPECT_NEAR(session.devices(0).energy_j(), 100, 1e-6);
  while (stream->Read(&batch)) {
  }
  EXPECT_TRUE(batch.last());
  EXPECT_TRUE(stream->Finish().ok());

  v1::DownloadRequest download;
  download.set_session(id);
  grpc::ClientContext d;
  auto parts = stub->Download(&d, download);
  std::string file;
  for (v1::DownloadPart part; parts->Read(&part);) file += part.bytes();
  EXPECT_TRUE(parts->Finish().ok());
  EXPECT_THAT(file, HasSubstr("BERYL"));

  v1::ListResponse list;
  grpc::ClientContext e;
  ASSERT_TRUE(stub->List(&e, {}, &list).ok());
  EXPECT_EQ(list.sessions_size(), 1);
  v1::SourcesResponse sources;
  grpc::ClientContext f;
  ASSERT_TRUE(stub->Sources(&f, {}, &sources).ok());
  EXPECT_THAT(sources.json(), HasSubstr("beryl.sources/1"));
}

TEST_F(RpcServerTest, ASlowStreamHoldsNobodyUp) {
  Open();
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  ASSERT_TRUE(Start(*stub, getpid(), &id).ok());
  grpc::ClientContext streaming;
  v1::StreamRequest wanted;
  wanted.set_session(id);
  wanted.set_every_ns(50'000'000);
  wanted.set_queue(2);
  auto stream = stub->Stream(&streaming, wanted);  // never read from
  for (int i = 0; i < 40; ++i) {
    meters_.Tick(2000);
    std::this_thread::sleep_for(std::chrono::milliseconds(6));
  }
  v1::Session session;
  ASSERT_TRUE(Stop(*stub, id, &session).ok());
  EXPECT_NEAR(session.devices(0).energy_j(), 80'000, 1e-3);
  streaming.TryCancel();
  v1::Batch batch;
  while (stream->Read(&batch)) {
  }
  (void)stream->Finish();
}

TEST_F(RpcServerTest, AClientThatDiesIsCleanedUp) {
  Open();
  for (const size_t address : {size_t{0}, size_t{1}}) {
    {
      auto stub = v1::Monitor::NewStub(Connect(address));
      uint64_t id = 0;
      ASSERT_TRUE(Start(*stub, getpid(), &id).ok());
    }
    EXPECT_TRUE(Eventually([&] {
      const auto list = sessions_->List({0});
      return !list.empty() && !list.back().running;
    }));
    EXPECT_THAT(sessions_->List({0}).back().ended_because, HasSubstr("went away"));
  }
  EXPECT_TRUE(Eventually([&] { return server_->connections() == 0; }));
  EXPECT_EQ(meters_.watches(), 0u);
}

TEST_F(RpcServerTest, AThousandSessionsFiftyAtOnceLeaveNothingBehind) {
  SessionsOptions options;
  options.limits.forget_after = Nanos{1};  // a session that is kept has its file open
  Open({}, options);
  std::atomic<int> wrong = 0;
  // Each on a connection of its own; of every third the client dies without a word.
  const auto round = [&](int sessions, int at_once) {
    std::vector<std::thread> clients;
    std::atomic<int> done = 0;
    for (int i = 0; i < at_once; ++i) {
      clients.emplace_back([&] {
        for (int k = 0; k < sessions / at_once; ++k) {
          auto stub = v1::Monitor::NewStub(Connect());
          uint64_t id = 0;
          v1::Session session;
          const grpc::Status started = Start(*stub, getpid(), &id);
          if (!started.ok()) ADD_FAILURE() << started.error_message();
          if (started.ok() && k % 3 == 2) ++done;
          if (!started.ok() || k % 3 == 2) continue;
          if (Stop(*stub, id, &session, true).ok()) ++done;
          // Not because another client's connection was taken for this one's.
          if (!session.ended_because().empty()) ++wrong;
        }
      });
    }
    for (std::thread& client : clients) client.join();
    return done.load();
  };
  const auto at_rest = [&] {
    return Eventually([&] {
      const auto list = sessions_->List({0});
      return server_->connections() == 0 && list.empty() && !meters_.running();
    });
  };
  ASSERT_EQ(round(100, 50), 100);  // what is made once is made now
  ASSERT_TRUE(at_rest());
  const size_t fds = EntriesOf("/proc/self/fd");
  const size_t threads = EntriesOf("/proc/self/task");
  ASSERT_EQ(round(1000, 50), 1000);
  ASSERT_TRUE(at_rest());
  EXPECT_EQ(wrong, 0);
  // gRPC keeps a few threads of its own pool for a while.
  EXPECT_TRUE(Eventually([&] { return EntriesOf("/proc/self/fd") <= fds + 2; }))
      << EntriesOf("/proc/self/fd") << " of " << fds;
  EXPECT_TRUE(Eventually([&] { return EntriesOf("/proc/self/task") <= threads + 4; }))
      << EntriesOf("/proc/self/task") << " of " << threads;
  EXPECT_EQ(meters_.watches(), 0u);
}

TEST_F(RpcServerTest, StreamsOfClientsThatGoAwayEnd) {
  Open();
  auto owner = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  ASSERT_TRUE(Start(*owner, getpid(), &id).ok());
  std::atomic<bool> ticking = true;
  std::thread ticker([&] {
    while (ticking) {
      meters_.Tick(20);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k) {
        auto stub = v1::Monitor::NewStub(Connect());
        grpc::ClientContext context;
        v1::StreamRequest wanted;
        wanted.set_session(id);
        wanted.set_every_ns(50'000'000);
        auto stream = stub->Stream(&context, wanted);
        v1::Batch batch;
        stream->Read(&batch);
        // At the moment when the next batch is on its way.
        std::this_thread::sleep_for(std::chrono::microseconds(100 * (i + k % 30)));
        context.TryCancel();
        (void)stream->Finish();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  ticking = false;
  ticker.join();
  v1::Session session;
  EXPECT_TRUE(Stop(*owner, id, &session, true).ok());
  owner.reset();
  // A call that nobody finished would be waited for here.
  auto closed = std::async(std::launch::async, [&] { server_.reset(); });
  if (closed.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
    std::fprintf(stderr, "a stream was never finished\n");
    std::abort();
  }
}

}  // namespace
}  // namespace beryl::server
