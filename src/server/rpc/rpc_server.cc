#include "server/rpc/rpc_server.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "server/peer.h"

namespace beryl::server {
namespace {

// Requests are small; larger ones are a mistake or an attack.
constexpr int kMostOfRequest = 64 * 1024;
constexpr int kStreamsOfConnection = 64;
constexpr int kHandshakeMs = 5000;
// Memory limit for what one user's connections send, and for all TLS connections, with or without a
// token.
constexpr size_t kMemoryOfUser = size_t{64} << 20;
// Descriptors passed to gRPC count up from here, so that a number is reused late.
constexpr int kFirstNumber = 256;
constexpr int kLastNumber = 4096;

grpc::ServerBuilder& Prepare(grpc::ServerBuilder& builder, grpc::Service* a, grpc::Service* b) {
  grpc::ResourceQuota quota;
  quota.Resize(kMemoryOfUser);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMostOfRequest);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnection);
  // Otherwise a port in use would be shared silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(a);
  builder.RegisterService(b);
  return builder;
}

// What an event is about: a connection by its id, which unlike a descriptor is never reused, a
// listener by its index, or the end.
constexpr uint64_t kListener = uint64_t{1} << 62;
constexpr uint64_t kEnd = uint64_t{1} << 63;

void Watch(int epoll, int fd, uint32_t events, uint64_t about) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = about;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

OwnedFd OpenSpare() { return OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// What a machine without IPv6, or a shell without a login, does not have.
bool IsMissing(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == ENOENT || error == ENOTDIR ||
         error == EACCES;
}

}  // namespace

Result<std::unique_ptr<RpcServer>> RpcServer::Open(Sessions& sessions, RpcServerOptions options) {
  // gRPC stays up until the program ends: on shutdown it may wait ten seconds for one of its
  // threads that handles connections with a long answer.
  static std::once_flag stays_up;
  std::call_once(stays_up, &grpc_init);
  std::unique_ptr<RpcServer> server(new RpcServer(sessions, std::move(options)));
  if (!server->options_.owner_of) server->options_.owner_of = &OwnerOfPeer;
  server->epoll_ = OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
  server->stop_ = OwnedFd(::eventfd(0, EFD_CLOEXEC));
  server->spare_ = OpenSpare();
  TRY(server->ListenLocally());
  TRY(server->ListenRemotely());
  Watch(server->epoll_.get(), server->stop_.get(), EPOLLIN, kEnd);
  server->thread_ = std::thread([server = server.get()] { server->Run(); });
  return server;
}

RpcServer::~RpcServer() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    thread_.join();
  }
  worker_.Stop();
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  if (remote_ && remote_->server) remote_->server->Shutdown(deadline);
  for (const auto& [uid, user] : servers_) user->server->Shutdown(deadline);
  leaving_.clear();  // waits for them
  for (const Address& address : addresses_) {
    if (address.is_unix()) ::unlink(address.path.c_str());
  }
}

Status RpcServer::ListenLocally() {
  std::optional<Error> passed_over;
  for (Address address : options_.local) {
    int error = 0;
    const auto listener = Listen(address, &error);
    if (!listener && options_.skip_missing && IsMissing(error)) {
      Say(listener.error().message + "; continuing without it");
      passed_over = listener.error();
      continue;
    }
    if (!listener) return listener.error();
    Watch(epoll_.get(), *listener, EPOLLIN, kListener | listeners_.size());
    listeners_.emplace_back(*listener);
    addresses_.push_back(address);
  }
  if (listeners_.empty() && passed_over) return *passed_over;
  return {};
}

Status RpcServer::ListenRemotely() {
  if (options_.remote.empty()) return {};
  remote_ = std::make_unique<UserServer>(sessions_, worker_, options_.remote_uid, options_.token,
                                         nullptr);
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({options_.key, options_.certificate});
  const auto credentials = grpc::SslServerCredentials(tls);
  grpc::ServerBuilder builder;
  Prepare(builder, &remote_->sampler, remote_->monitor.get());
  // Before the token is checked: clients that do not finish the TLS handshake are dropped.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  std::vector<int> ports(options_.remote.size(), 0);
  for (size_t i = 0; i < options_.remote.size(); ++i) {
    builder.AddListeningPort(options_.remote[i].text(), credentials, &ports[i]);
  }
  remote_->server = builder.BuildAndStart();
  for (size_t i = 0; i < ports.size(); ++i) {
    Address address = options_.remote[i];
    if (!remote_->server || ports[i] == 0) {
      return IoError(
          fmt::format("cannot listen on {}: the address is taken or not on this machine, or the "
                      "certificate and its key do not match",
                      address.text()));
    }
    address.port = static_cast<uint16_t>(ports[i]);
    addresses_.push_back(address);
  }
  return {};
}

void RpcServer::Run() {
  for (;;) {
    std::array<epoll_event, 32> events;
    const int ready =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (ready < 0 && errno != EINTR) return;
    for (int i = 0; i < ready; ++i) {
      const uint64_t about = events[static_cast<size_t>(i)].data.u64;
      if (about == kEnd) return;
      if ((about & kListener) != 0) {
        Accept(listeners_[about & ~kListener].get());
      } else {
        Close(about);
      }
    }
  }
}

void RpcServer::Accept(int listener) {
  OwnedFd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.get() < 0) {
    if (errno != EMFILE && errno != ENFILE) return;
    SayOnce(said_no_descriptors_, "out of file descriptors: refusing connections");
    spare_ = OwnedFd();
    OwnedFd refused(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (refused.get() < 0) ::usleep(10'000);  // avoids a busy loop
    refused = OwnedFd();
    spare_ = OpenSpare();
    return;
  }
  const auto uid = options_.owner_of(connection.get());
  if (!uid) return SayOnce(said_unknown_, "refused a connection: its owner is unknown");
  said_unknown_ = false;
  if (HasRoomFor(*uid, connection.get())) HandOver(std::move(connection), *uid);
}

// Root, who must be able to diagnose problems, is accepted beyond the limits.
bool RpcServer::HasRoomFor(uint32_t uid, int descriptor) {
  if (uid != 0 && descriptor >= options_.descriptors) {
    SayOnce(said_no_descriptors_,
            "file descriptors are in use, but for those kept for root: refusing connections");
    return false;
  }
  said_no_descriptors_ = false;
  const auto known = servers_.find(uid);
  if (uid != 0 && known != servers_.end() &&
      known->second->connections >= options_.connections_of_user) {
    SayOnce(said_user_full_, fmt::format("user {} has {} connections: refusing more", uid,
                                         known->second->connections));
    return false;
  }
  said_user_full_ = false;
  if (uid != 0 && connections() >= options_.most_connections) {
    SayOnce(said_full_,
            fmt::format("more than {} connections: refusing more", options_.most_connections));
    return false;
  }
  said_full_ = false;
  return true;
}

RpcServer::UserServer* RpcServer::ServerOf(uint32_t uid) {
  if (const auto known = servers_.find(uid); known != servers_.end()) return known->second.get();
  if (servers_.size() >= options_.most_users && !DismissOne() && uid != 0) {
    SayOnce(said_users_full_,
            fmt::format("refused user {}: there are already {} others", uid, servers_.size()));
    return nullptr;
  }
  said_users_full_ = false;
  auto user = std::make_unique<UserServer>(
      sessions_, worker_, uid, "", [this](const std::string& peer) { return ConnectionOf(peer); });
  grpc::ServerBuilder builder;
  user->server = Prepare(builder, &user->sampler, user->monitor.get()).BuildAndStart();
  if (!user->server) return nullptr;
  return servers_.emplace(uid, std::move(user)).first->second.get();
}

// Drops the server of a user without connections, the one longest gone. A call still in progress is
// waited for elsewhere.
bool RpcServer::DismissOne() {
  auto oldest = servers_.end();
  for (auto entry = servers_.begin(); entry != servers_.end(); ++entry) {
    if (entry->second->connections > 0) continue;
    if (oldest == servers_.end() ||
        entry->second->last_connection < oldest->second->last_connection) {
      oldest = entry;
    }
  }
  if (oldest == servers_.end()) return false;
  std::erase_if(leaving_, [](const std::future<void>& done) {
    return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  leaving_.push_back(std::async(std::launch::async, [user = std::move(oldest->second)] {
    user->server->Shutdown(std::chrono::system_clock::now());
  }));
  servers_.erase(oldest);
  return true;
}

// gRPC identifies a connection by its descriptor number. A call in progress when another connection
// gets that number would count as the other's, so numbers are rotated.
int RpcServer::NumberForGrpc(OwnedFd connection) {
  if (next_number_ < kFirstNumber || next_number_ >= kLastNumber) next_number_ = kFirstNumber;
  const int number = ::fcntl(connection.get(), F_DUPFD_CLOEXEC, next_number_);
  next_number_ = number + 1;
  return number < 0 ? connection.release() : number;
}

void RpcServer::HandOver(OwnedFd connection, uint32_t uid) {
  UserServer* user = ServerOf(uid);
  if (user == nullptr) return;
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // Our second descriptor shows the end of the connection after gRPC has closed its own.
  OwnedFd watched(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0));
  if (watched.get() < 0) return;
  const int ours = watched.get();
  const int served = NumberForGrpc(std::move(connection));
  const uint64_t id = next_connection_++;
  ++user->connections;
  user->last_connection = id;
  sessions_.ConnectionOpened(id);
  {
    const std::lock_guard lock(mutex_);
    connections_.emplace(id, Connection{std::move(watched), served, uid});
    served_[served] = id;
  }
  grpc::AddInsecureChannelFromFd(user->server.get(), served);
  Watch(epoll_.get(), ours, EPOLLRDHUP | EPOLLHUP | EPOLLERR, id);
}

void RpcServer::Close(uint64_t id) {
  Connection ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    ended = std::move(found->second);
    connections_.erase(found);
    if (const auto by = served_.find(ended.served); by != served_.end() && by->second == id) {
      served_.erase(by);
    }
  }
  // Closing alone is not enough: it stays registered while gRPC has its copy open.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, ended.watched.get(), nullptr);
  if (const auto of = servers_.find(ended.uid); of != servers_.end()) --of->second->connections;
  sessions_.ConnectionClosed(id);
}

size_t RpcServer::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

// gRPC names a connection that it was given "fd:" and its number.
uint64_t RpcServer::ConnectionOf(const std::string& peer) const {
  int fd = -1;
  if (!peer.starts_with("fd:")) return 0;
  std::from_chars(peer.data() + 3, peer.data() + peer.size(), fd);
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(fd);
  return found == served_.end() ? 0 : found->second;
}

void RpcServer::Say(const std::string& what) {
  if (options_.log) options_.log(what);
}

void RpcServer::SayOnce(bool& said, const std::string& what) {
  if (!std::exchange(said, true)) Say(what);
}

}  // namespace beryl::server
