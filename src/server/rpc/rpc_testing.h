// A server on the usual sockets, with scripted meters, for tests.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "monitor.grpc.pb.h"
#include "server/rpc/rpc_server.h"
#include "server/sessions_testing.h"

namespace beryl::server {

namespace v1 = monitor::v1;

class ServedSessions {
 protected:
  ServedSessions() {
    folder_ = (std::filesystem::temp_directory_path() / "beryl-rpc-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~ServedSessions() {
    server_.reset();
    sessions_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Open(RpcServerOptions options = {}, SessionsOptions sessions = {}) {
    sessions.drain_every = Nanos{5'000'000};
    sessions_ = std::make_unique<Sessions>(meters_, Guard{"/proc", geteuid(), true}, sessions);
    if (options.local.empty()) {
      options.local = {*ParseAddress("unix:" + folder_ + "/s"), *ParseAddress("127.0.0.1:0")};
    }
    auto server = RpcServer::Open(*sessions_, std::move(options));
    if (!server) {
      std::fprintf(stderr, "%s\n", server.error().message.c_str());
      std::abort();
    }
    server_ = std::move(*server);
  }
  // A connection of its own for each.
  std::shared_ptr<grpc::Channel> Connect(size_t address = 0) {
    grpc::ChannelArguments arguments;
    static std::atomic<int> number = 0;
    arguments.SetInt("beryl.test", ++number);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(server_->addresses()[address].text(),
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
  std::unique_ptr<RpcServer> server_;
};

}  // namespace beryl::server
