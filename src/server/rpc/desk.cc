#include "server/rpc/desk.h"

#include <fcntl.h>
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

namespace beryl::server {
namespace {

// Requests are small; what is bigger is a mistake or worse.
constexpr int kMostOfRequest = 64 * 1024;
constexpr int kStreamsOfConnection = 64;

grpc::ServerBuilder& Prepare(grpc::ServerBuilder& builder, grpc::Service* a, grpc::Service* b) {
  builder.SetMaxReceiveMessageSize(kMostOfRequest);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnection);
  // Otherwise a port that is taken would be shared in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(a);
  builder.RegisterService(b);
  return builder;
}

void Watch(int epoll, int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

Result<std::unique_ptr<Desk>> Desk::Open(Sessions& sessions, DeskOptions options) {
  std::unique_ptr<Desk> desk(new Desk(sessions, std::move(options)));
  if (!desk->options_.owner_of) desk->options_.owner_of = &OwnerOfPeer;
  desk->epoll_ = OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
  desk->stop_ = OwnedFd(::eventfd(0, EFD_CLOEXEC));
  if (auto ok = desk->ListenLocally(); !ok) return ok.error();
  if (auto ok = desk->ListenRemotely(); !ok) return ok.error();
  Watch(desk->epoll_.get(), desk->stop_.get(), EPOLLIN);
  desk->thread_ = std::thread([desk = desk.get()] { desk->Run(); });
  return desk;
}

Desk::~Desk() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    thread_.join();
  }
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  if (remote_ && remote_->server) remote_->server->Shutdown(deadline);
  for (const auto& [uid, counter] : counters_) counter->server->Shutdown(deadline);
  for (const auto& [watched, connection] : watched_) ::close(watched);
  for (const Address& address : addresses_) {
    if (address.is_unix()) ::unlink(address.path.c_str());
  }
}

Result<bool> Desk::ListenLocally() {
  for (Address address : options_.local) {
    const auto listener = Listen(address);
    if (!listener) return listener.error();
    listeners_.emplace_back(*listener);
    addresses_.push_back(address);
    Watch(epoll_.get(), *listener, EPOLLIN);
  }
  return true;
}

Result<bool> Desk::ListenRemotely() {
  if (options_.remote.empty()) return true;
  remote_ = std::make_unique<Counter>(sessions_, options_.remote_uid, options_.token, nullptr);
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({options_.key, options_.certificate});
  const auto credentials = grpc::SslServerCredentials(tls);
  grpc::ServerBuilder builder;
  Prepare(builder, &remote_->sampler, &remote_->monitor);
  std::vector<int> ports(options_.remote.size(), 0);
  for (size_t i = 0; i < options_.remote.size(); ++i) {
    builder.AddListeningPort(options_.remote[i].text(), credentials, &ports[i]);
  }
  remote_->server = builder.BuildAndStart();
  for (size_t i = 0; i < ports.size(); ++i) {
    Address address = options_.remote[i];
    if (!remote_->server || ports[i] == 0) {
      return IoError(fmt::format(
          "cannot listen on {}: the address is taken or not this machine's, or the certificate "
          "and its key do not fit",
          address.text()));
    }
    address.port = static_cast<uint16_t>(ports[i]);
    addresses_.push_back(address);
  }
  return true;
}

void Desk::Run() {
  for (;;) {
    std::array<epoll_event, 32> events;
    const int ready =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (ready < 0 && errno != EINTR) return;
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == stop_.get()) return;
      const bool is_listener = std::any_of(listeners_.begin(), listeners_.end(),
                                           [&](const OwnedFd& own) { return own.get() == fd; });
      if (is_listener) {
        Accept(fd);
      } else {
        Close(fd);
      }
    }
  }
}

void Desk::Accept(int listener) {
  OwnedFd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.get() < 0) {
    // Out of descriptors, for one: not to turn in circles over it.
    if (errno == EMFILE || errno == ENFILE) ::usleep(10'000);
    return;
  }
  if (connections() >= options_.most_connections) {
    if (!std::exchange(said_full_, true)) {
      Say(fmt::format("more than {} connections: turning others away", options_.most_connections));
    }
    return;
  }
  said_full_ = false;
  const auto uid = options_.owner_of(connection.get());
  if (!uid) return Say("turned a connection away: whose it is cannot be told");
  HandOver(std::move(connection), *uid);
}

Desk::Counter* Desk::CounterOf(uint32_t uid) {
  if (const auto known = counters_.find(uid); known != counters_.end()) return known->second.get();
  if (counters_.size() >= options_.most_users) {
    Say(fmt::format("user {} turned away: there are {} others already", uid, counters_.size()));
    return nullptr;
  }
  auto counter = std::make_unique<Counter>(
      sessions_, uid, "", [this](const std::string& peer) { return ConnectionOf(peer); });
  grpc::ServerBuilder builder;
  counter->server = Prepare(builder, &counter->sampler, &counter->monitor).BuildAndStart();
  if (!counter->server) return nullptr;
  return counters_.emplace(uid, std::move(counter)).first->second.get();
}

void Desk::HandOver(OwnedFd connection, uint32_t uid) {
  Counter* counter = CounterOf(uid);
  if (counter == nullptr) return;
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // A second descriptor of ours tells the end of the connection, when gRPC has closed its own.
  const int watched = ::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0);
  if (watched < 0) return;
  const int served = connection.release();
  {
    const std::lock_guard lock(mutex_);
    watched_[watched] = {next_connection_, served};
    served_[served] = next_connection_++;
  }
  grpc::AddInsecureChannelFromFd(counter->server.get(), served);
  Watch(epoll_.get(), watched, EPOLLRDHUP | EPOLLHUP | EPOLLERR);
}

void Desk::Close(int watched) {
  Connection ended{};
  {
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(watched);
    if (found == watched_.end()) return;
    ended = found->second;
    watched_.erase(found);
    if (const auto by = served_.find(ended.served); by != served_.end() && by->second == ended.id) {
      served_.erase(by);
    }
  }
  ::close(watched);
  sessions_.ConnectionClosed(ended.id);
}

size_t Desk::connections() const {
  const std::lock_guard lock(mutex_);
  return watched_.size();
}

// gRPC calls a connection it was given "fd:" and its number.
uint64_t Desk::ConnectionOf(const std::string& peer) const {
  int fd = -1;
  if (!peer.starts_with("fd:")) return 0;
  std::from_chars(peer.data() + 3, peer.data() + peer.size(), fd);
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(fd);
  return found == served_.end() ? 0 : found->second;
}

void Desk::Say(const std::string& what) {
  if (options_.log) options_.log(what);
}

}  // namespace beryl::server
