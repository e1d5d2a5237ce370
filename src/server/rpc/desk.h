// Lets clients in.
//
// gRPC does not tell who is at the other end of a socket. So connections from this machine are
// accepted here: the kernel says whose they are (peer credentials of a Unix socket, the table of
// TCP connections on loopback), and each is handed to the server of that user. A connection that
// goes away ends the sessions that were to end with it. From elsewhere gRPC itself lets in those
// that speak TLS, and calls have to carry the token.
#pragma once

#include <grpcpp/grpcpp.h>

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
#include "server/rpc/gate.h"
#include "server/rpc/monitor_service.h"
#include "server/rpc/sampler_service.h"
#include "server/sessions.h"
#include "server/socket.h"
#include "server/worker.h"

namespace beryl::server {

struct DeskOptions {
  std::vector<Address> local;  // loopback and Unix sockets
  // Those of `local` that this machine does not have are passed over, if any is left.
  bool skip_missing = false;
  std::vector<Address> remote;  // with TLS and token
  std::string certificate;      // PEM
  std::string key;
  std::string token;
  uint32_t remote_uid = 0;  // who carries the token is as good as this user
  size_t most_connections = 512;
  size_t connections_of_user = 64;  // root: as many as there are
  size_t most_users = 64;           // connected at a time; root comes on top
  // For tests: in place of what the kernel says of a connection.
  std::function<std::optional<uint32_t>(int fd)> owner_of;
  std::function<void(const std::string&)> log;
};

class Desk {
 public:
  static Result<std::unique_ptr<Desk>> Open(Sessions& sessions, DeskOptions options);
  // Ends all calls.
  ~Desk();

  const std::vector<Address>& addresses() const { return addresses_; }
  size_t connections() const;

 private:
  // The services of one user.
  struct Counter {
    Counter(Sessions& sessions, Worker& worker, uint32_t uid, const std::string& token,
            std::function<uint64_t(const std::string&)> connection_of)
        : gate(uid, token, std::move(connection_of)),
          sampler(sessions, gate),
          monitor(sessions, gate, worker) {}
    Gate gate;
    SamplerService sampler;
    MonitorService monitor;
    std::unique_ptr<grpc::Server> server;
    size_t connections = 0;  // written by the thread that lets in, as all of this
    uint64_t last_connection = 0;
  };
  struct Connection {
    OwnedFd watched;  // ours, for its end only
    int served = -1;  // gRPC's
    uint32_t uid = 0;
  };

  Desk(Sessions& sessions, DeskOptions options)
      : sessions_(sessions), options_(std::move(options)) {}
  Result<bool> ListenLocally();
  Result<bool> ListenRemotely();
  void Run();
  void Accept(int listener);
  bool HasRoomFor(uint32_t uid);
  void HandOver(OwnedFd connection, uint32_t uid);
  int NumberForGrpc(OwnedFd connection);
  void Close(uint64_t id);
  Counter* CounterOf(uint32_t uid);
  bool DismissOne();
  uint64_t ConnectionOf(const std::string& peer) const;
  void Say(const std::string& what);
  void SayOnce(bool& said, const std::string& what);

  Sessions& sessions_;
  DeskOptions options_;
  std::vector<Address> addresses_;
  std::vector<OwnedFd> listeners_;
  OwnedFd epoll_;
  OwnedFd stop_;
  Worker worker_;                                          // outlives the services
  std::map<uint32_t, std::unique_ptr<Counter>> counters_;  // by user
  std::unique_ptr<Counter> remote_;
  std::vector<std::future<void>> leaving_;  // servers that are being shut down
  mutable std::mutex mutex_;
  std::map<uint64_t, Connection> connections_;  // by their ids
  std::map<int, uint64_t> served_;              // by gRPC's descriptor: the one that has it now
  uint64_t next_connection_ = 1;
  int next_number_ = 0;
  bool said_full_ = false;
  bool said_user_full_ = false;
  bool said_no_descriptors_ = false;
  std::thread thread_;
};

// Whose the other end of a local connection is; nothing: that cannot be told.
std::optional<uint32_t> OwnerOfPeer(int fd);

}  // namespace beryl::server
