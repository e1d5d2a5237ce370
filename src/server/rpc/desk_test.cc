#include "server/rpc/desk.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/scripted_meters_testing.h"

namespace beryl::server {
namespace {

namespace v1 = monitor::v1;
namespace published = smaragdine::protos::sample;
using testing::HasSubstr;

bool Eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 4000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

size_t EntriesOf(const char* folder) {
  size_t count = 0;
  DIR* opened = ::opendir(folder);
  while (::readdir(opened) != nullptr) ++count;
  ::closedir(opened);
  return count;
}

class DeskTest : public testing::Test {
 protected:
  DeskTest() {
    folder_ = (std::filesystem::temp_directory_path() / "beryl-desk-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~DeskTest() override {
    desk_.reset();
    sessions_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Open(DeskOptions options = {}, SessionsOptions sessions = {}) {
    sessions.drain_every = Nanos{5'000'000};
    sessions_ = std::make_unique<Sessions>(meters_, Guard{"/proc", geteuid(), true}, sessions);
    if (options.local.empty()) {
      options.local = {*ParseAddress("unix:" + folder_ + "/s"), *ParseAddress("127.0.0.1:0")};
    }
    auto desk = Desk::Open(*sessions_, std::move(options));
    ASSERT_TRUE(desk) << desk.error().message;
    desk_ = std::move(*desk);
  }
  // A connection of its own for each.
  std::shared_ptr<grpc::Channel> Connect(size_t address = 0) {
    grpc::ChannelArguments arguments;
    static std::atomic<int> number = 0;
    arguments.SetInt("beryl.test", ++number);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(desk_->addresses()[address].text(),
                                     grpc::InsecureChannelCredentials(), arguments);
  }
  static grpc::Status Start(v1::Monitor::Stub& stub, int32_t pid, uint64_t* id, bool keep = false) {
    grpc::ClientContext context;
    v1::StartRequest request;
    request.add_pids(pid);
    request.set_keep(keep);
    v1::StartResponse response;
    const grpc::Status status = stub.Start(&context, request, &response);
    *id = response.session();
    return status;
  }
  static grpc::Status Stop(v1::Monitor::Stub& stub, uint64_t id, v1::Session* session,
                           bool forget = false) {
    grpc::ClientContext context;
    v1::StopRequest request;
    request.set_session(id);
    request.set_forget(forget);
    return stub.Stop(&context, request, session);
  }

  std::string folder_;
  ScriptedMeters meters_;
  std::unique_ptr<Sessions> sessions_;
  std::unique_ptr<Desk> desk_;
};

TEST_F(DeskTest, PublishedClientsWorkOnBothSockets) {
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
      ASSERT_EQ(response.data().rapl_size(), 3);
      const auto& first = response.data().rapl(0).reading(0);
      const auto& last = response.data().rapl(2).reading(0);
      EXPECT_EQ(last.package() - first.package(), 8u);
      EXPECT_FALSE(first.has_dram());
      EXPECT_EQ(response.data().nvml_size(), 0);
    }
  }
}

TEST_F(DeskTest, PublishedReadWithoutAnySessionGivesAnEmptyDataSet) {
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

TEST_F(DeskTest, OwnSessionsAreReadStreamedCutAndDownloaded) {
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
  EXPECT_EQ(window.energy_j(), 100);
  EXPECT_EQ(window.ours_j(), 50);

  v1::Batch batch;
  ASSERT_TRUE(stream->Read(&batch));
  ASSERT_EQ(batch.channels_size(), 1);
  EXPECT_EQ(batch.channels(0).power_w(), 42);
  EXPECT_EQ(batch.channels(0).source(), "scripted");

  v1::ReadRequest read;
  read.set_session(id);
  v1::ReadResponse measured;
  grpc::ClientContext c;
  ASSERT_TRUE(stub->Read(&c, read, &measured).ok());
  EXPECT_THAT(measured.json(), HasSubstr("seconds"));

  v1::Session session;
  ASSERT_TRUE(Stop(*stub, id, &session).ok());
  EXPECT_FALSE(session.running());
  EXPECT_EQ(session.devices(0).energy_j(), 100);
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
  EXPECT_THAT(file, HasSubstr("beryl"));

  v1::ListResponse list;
  grpc::ClientContext e;
  ASSERT_TRUE(stub->List(&e, {}, &list).ok());
  EXPECT_EQ(list.sessions_size(), 1);
  v1::SourcesResponse sources;
  grpc::ClientContext f;
  ASSERT_TRUE(stub->Sources(&f, {}, &sources).ok());
  EXPECT_THAT(sources.json(), HasSubstr("beryl.sources/1"));
}

TEST_F(DeskTest, ASlowStreamHoldsNobodyUp) {
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
  EXPECT_EQ(session.devices(0).energy_j(), 80'000);
  streaming.TryCancel();
  v1::Batch batch;
  while (stream->Read(&batch)) {
  }
  (void)stream->Finish();
}

TEST_F(DeskTest, WhoAsksIsWhoTheKernelSaysHeIs) {
  DeskOptions options;
  options.owner_of = [](int) { return std::optional<uint32_t>(geteuid() + 4321); };
  Open(std::move(options));
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  const grpc::Status status = Start(*stub, getpid(), &id);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << status.error_message();
}

TEST_F(DeskTest, WhoCannotBeToldIsTurnedAway) {
  DeskOptions options;
  options.owner_of = [](int) { return std::optional<uint32_t>(); };
  Open(std::move(options));
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  EXPECT_EQ(Start(*stub, getpid(), &id).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(DeskTest, AClientThatDiesIsCleanedUp) {
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
  EXPECT_TRUE(Eventually([&] { return desk_->connections() == 0; }));
  EXPECT_EQ(meters_.watches(), 0u);
}

TEST_F(DeskTest, ATakenAddressIsSaid) {
  Open();
  Sessions other(meters_, Guard{"/proc", geteuid(), true}, {});
  DeskOptions options;
  options.local = {desk_->addresses()[1]};
  const auto again = Desk::Open(other, options);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("cannot listen on 127.0.0.1"));
  options.local = {desk_->addresses()[0]};
  EXPECT_FALSE(Desk::Open(other, options));
}

TEST_F(DeskTest, RubbishOnTheSocketHarmsNobody) {
  Open();
  for (int i = 0; i < 5; ++i) {
    const OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    desk_->addresses()[0].path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string rubbish(1000, static_cast<char>(i * 37));
    (void)::send(fd.get(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
  }
  auto stub = v1::Monitor::NewStub(Connect());
  uint64_t id = 0;
  EXPECT_TRUE(Start(*stub, getpid(), &id).ok());
}

TEST_F(DeskTest, AThousandSessionsFiftyAtOnceLeaveNothingBehind) {
  Open();
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
      const bool running = std::any_of(list.begin(), list.end(),
                                       [](const SessionSummary& one) { return one.running; });
      return desk_->connections() == 0 && !running && !meters_.running();
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

TEST_F(DeskTest, StreamsOfClientsThatGoAwayEnd) {
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
  auto closed = std::async(std::launch::async, [&] { desk_.reset(); });
  if (closed.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
    std::fprintf(stderr, "a stream was never finished\n");
    std::abort();
  }
}

TEST_F(DeskTest, UsersComeAndGo) {
  std::atomic<uint32_t> uid = 1001;
  DeskOptions options;
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
    ASSERT_TRUE(Eventually([&] { return desk_->connections() == 0; }));
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

TEST_F(DeskTest, OneUserDoesNotTakeAllConnections) {
  DeskOptions options;
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

TEST_F(DeskTest, PassesOverUsualAddressesThatAreMissing) {
  DeskOptions options;
  options.local = {*ParseAddress("unix:" + folder_ + "/gone/s"), *ParseAddress("127.0.0.1:0")};
  options.skip_missing = true;
  std::string said;
  options.log = [&](const std::string& what) { said += what; };
  Open(options);
  EXPECT_EQ(desk_->addresses().size(), 1u);
  EXPECT_THAT(said, HasSubstr("going on without it"));
  options.local.pop_back();
  EXPECT_FALSE(Desk::Open(*sessions_, options));  // none is left
  options.local = {desk_->addresses()[0], *ParseAddress("unix:" + folder_ + "/s")};
  EXPECT_FALSE(Desk::Open(*sessions_, options));  // what is taken is not missing
}

}  // namespace
}  // namespace beryl::server
