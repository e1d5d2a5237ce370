// Accepts clients.
//
// gRPC does not tell who is at the other end of a socket. So connections from this machine are
// accepted here: the kernel tells their user (peer credentials of a Unix socket, the table of TCP
// connections on loopback), and each is passed to the server of that user. A connection that closes
// ends the sessions bound to it. Remote connections are accepted by gRPC itself, with TLS, and
// calls must carry the token.
#pragma once

#include <grpcpp/grpcpp.h>

#include <climits>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "server/address.h"
#include "server/rpc/authenticator.h"
#include "server/rpc/monitor_service.h"
#include "server/rpc/sampler_service.h"
#include "server/sessions.h"
#include "server/socket.h"
#include "server/worker.h"

namespace beryl::server {

struct RpcServerOptions {
  std::vector<Address> local;  // loopback and Unix sockets
  // Skips addresses of `local` that this machine does not have, unless none is left.
  bool skip_missing = false;
  std::vector<Address> remote;  // with TLS and token
  std::string certificate;      // PEM
  std::string key;
  std::string token;
  uint32_t remote_uid = 0;  // calls with the token act as this user
  size_t most_connections = 512;
  size_t connections_of_user = 64;  // unlimited for root
  size_t most_users = 64;           // connected at a time, not counting root
  int descriptors = INT_MAX;        // numbers from here on are left to root, and to accepting
  // For tests: replaces the kernel's answer about a connection.
  std::function<std::optional<uint32_t>(int fd)> owner_of;
  std::function<void(const std::string&)> log;
};

class RpcServer {
 public:
  static Result<std::unique_ptr<RpcServer>> Open(Sessions& sessions, RpcServerOptions options);
  // Ends all calls.
  ~RpcServer();

  const std::vector<Address>& addresses() const { return addresses_; }
  size_t connections() const;

 private:
  // The services of one user.
  struct UserServer {
    UserServer(Sessions& sessions, Worker& worker, uint32_t uid, const std::string& token,
               std::function<uint64_t(const std::string&)> connection_of)
        : authenticator(uid, token, std::move(connection_of)),
          sampler(sessions, authenticator),
          monitor(MakeMonitorService(sessions, authenticator, worker)) {}
    Authenticator authenticator;
    SamplerService sampler;
    std::unique_ptr<grpc::Service> monitor;
    std::unique_ptr<grpc::Server> server;
    size_t connections = 0;  // like all of this, written by the accepting thread
    uint64_t last_connection = 0;
  };
  struct Connection {
    OwnedFd watched;  // ours, only to see its end
    int served = -1;  // gRPC's
    uint32_t uid = 0;
  };

  RpcServer(Sessions& sessions, RpcServerOptions options)
      : sessions_(sessions), options_(std::move(options)) {}
  Status ListenLocally();
  Status ListenRemotely();
  void Run();
  void Accept(int listener);
  bool HasRoomFor(uint32_t uid, int descriptor);
  void HandOver(OwnedFd connection, uint32_t uid);
  int NumberForGrpc(OwnedFd connection);
  void Close(uint64_t id);
  UserServer* ServerOf(uint32_t uid);
  bool DismissOne();
  uint64_t ConnectionOf(const std::string& peer) const;
  void Say(const std::string& what);
  void SayOnce(bool& said, const std::string& what);

  Sessions& sessions_;
  RpcServerOptions options_;
  std::vector<Address> addresses_;
  std::vector<OwnedFd> listeners_;
  OwnedFd epoll_;
  OwnedFd stop_;
  OwnedFd spare_;                                            // given up to be able to refuse
  Worker worker_;                                            // outlives the services
  std::map<uint32_t, std::unique_ptr<UserServer>> servers_;  // by user
  std::unique_ptr<UserServer> remote_;
  std::vector<std::future<void>> leaving_;  // servers being shut down
  mutable std::mutex mutex_;
  std::map<uint64_t, Connection> connections_;  // by their ids
  std::map<int, uint64_t> served_;              // by gRPC's descriptor: its current owner
  uint64_t next_connection_ = 1;
  int next_number_ = 0;
  bool said_full_ = false;
  bool said_user_full_ = false;
  bool said_users_full_ = false;
  bool said_unknown_ = false;
  bool said_no_descriptors_ = false;
  std::thread thread_;
};

}  // namespace beryl::server
