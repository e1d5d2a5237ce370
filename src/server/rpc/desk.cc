#include "server/rpc/desk.h"

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

namespace beryl::server {
namespace {

// Requests are small; what is bigger is a mistake or worse.
constexpr int kMostOfRequest = 64 * 1024;
constexpr int kStreamsOfConnection = 64;
constexpr int kHandshakeMs = 5000;
// Of what connections over TLS may hold in memory, with a token or without.
constexpr size_t kRemoteMemory = size_t{64} << 20;
// Descriptors are handed to gRPC in turn from here on, so that a number comes again late.
constexpr int kFirstNumber = 256;
constexpr int kLastNumber = 4096;

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

// What an event is about: a connection by its id, which is never used again as descriptors are, or
// a listener by its place, or the end.
constexpr uint64_t kListener = uint64_t{1} << 62;
constexpr uint64_t kEnd = uint64_t{1} << 63;

void Watch(int epoll, int fd, uint32_t events, uint64_t about) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = about;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// What a machine without IPv6, or a shell that was not logged into, does not have.
bool IsMissing(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == ENOENT || error == ENOTDIR ||
         error == EACCES;
}

}  // namespace

Result<std::unique_ptr<Desk>> Desk::Open(Sessions& sessions, DeskOptions options) {
  // gRPC stays up until the program ends: when it shuts down, it may wait ten seconds for a thread
  // of its own that looks after connections with a long answer.
  static std::once_flag stays_up;
  std::call_once(stays_up, &grpc_init);
  std::unique_ptr<Desk> desk(new Desk(sessions, std::move(options)));
  if (!desk->options_.owner_of) desk->options_.owner_of = &OwnerOfPeer;
  desk->epoll_ = OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
  desk->stop_ = OwnedFd(::eventfd(0, EFD_CLOEXEC));
  if (auto ok = desk->ListenLocally(); !ok) return ok.error();
  if (auto ok = desk->ListenRemotely(); !ok) return ok.error();
  Watch(desk->epoll_.get(), desk->stop_.get(), EPOLLIN, kEnd);
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
  worker_.Stop();
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  if (remote_ && remote_->server) remote_->server->Shutdown(deadline);
  for (const auto& [uid, counter] : counters_) counter->server->Shutdown(deadline);
  leaving_.clear();  // waits for them
  for (const Address& address : addresses_) {
    if (address.is_unix()) ::unlink(address.path.c_str());
  }
}

Result<bool> Desk::ListenLocally() {
  std::optional<Error> passed_over;
  for (Address address : options_.local) {
    int error = 0;
    const auto listener = Listen(address, &error);
    if (!listener && options_.skip_missing && IsMissing(error)) {
      Say(listener.error().message + "; going on without it");
      passed_over = listener.error();
      continue;
    }
    if (!listener) return listener.error();
    Watch(epoll_.get(), *listener, EPOLLIN, kListener | listeners_.size());
    listeners_.emplace_back(*listener);
    addresses_.push_back(address);
  }
  if (listeners_.empty() && passed_over) return *passed_over;
  return true;
}

Result<bool> Desk::ListenRemotely() {
  if (options_.remote.empty()) return true;
  remote_ =
      std::make_unique<Counter>(sessions_, worker_, options_.remote_uid, options_.token, nullptr);
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({options_.key, options_.certificate});
  const auto credentials = grpc::SslServerCredentials(tls);
  grpc::ServerBuilder builder;
  Prepare(builder, &remote_->sampler, &remote_->monitor);
  // Before the token is seen: whoever does not come to an end with TLS is left, and all together
  // hold no more than this.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  grpc::ResourceQuota quota("remote");
  quota.Resize(kRemoteMemory);
  builder.SetResourceQuota(quota);
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

void Desk::Accept(int listener) {
  OwnedFd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.get() < 0) {
    if (errno != EMFILE && errno != ENFILE) return;
    SayOnce(said_no_descriptors_, "out of file descriptors: others have to wait");
    ::usleep(10'000);  // not to turn in circles over it
    return;
  }
  said_no_descriptors_ = false;
  const auto uid = options_.owner_of(connection.get());
  if (!uid) return Say("turned a connection away: whose it is cannot be told");
  if (HasRoomFor(*uid)) HandOver(std::move(connection), *uid);
}

// Root, who has to be able to look what is wrong, is let in beyond the limits.
bool Desk::HasRoomFor(uint32_t uid) {
  const auto known = counters_.find(uid);
  if (uid != 0 && known != counters_.end() &&
      known->second->connections >= options_.connections_of_user) {
    SayOnce(said_user_full_, fmt::format("user {} has {} connections: turning others away", uid,
                                         known->second->connections));
    return false;
  }
  said_user_full_ = false;
  if (uid != 0 && connections() >= options_.most_connections) {
    SayOnce(said_full_, fmt::format("more than {} connections: turning others away",
                                    options_.most_connections));
    return false;
  }
  said_full_ = false;
  return true;
}

Desk::Counter* Desk::CounterOf(uint32_t uid) {
  if (const auto known = counters_.find(uid); known != counters_.end()) return known->second.get();
  if (counters_.size() >= options_.most_users && !DismissOne() && uid != 0) {
    Say(fmt::format("user {} turned away: there are {} others already", uid, counters_.size()));
    return nullptr;
  }
  auto counter = std::make_unique<Counter>(
      sessions_, worker_, uid, "", [this](const std::string& peer) { return ConnectionOf(peer); });
  grpc::ServerBuilder builder;
  counter->server = Prepare(builder, &counter->sampler, &counter->monitor).BuildAndStart();
  if (!counter->server) return nullptr;
  return counters_.emplace(uid, std::move(counter)).first->second.get();
}

// The server of a user who has no connection goes, that of the one longest gone. A call of his that
// is still being worked on is waited for elsewhere.
bool Desk::DismissOne() {
  auto oldest = counters_.end();
  for (auto entry = counters_.begin(); entry != counters_.end(); ++entry) {
    if (entry->second->connections > 0) continue;
    if (oldest == counters_.end() ||
        entry->second->last_connection < oldest->second->last_connection) {
      oldest = entry;
    }
  }
  if (oldest == counters_.end()) return false;
  std::erase_if(leaving_, [](const std::future<void>& done) {
    return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  leaving_.push_back(std::async(std::launch::async, [counter = std::move(oldest->second)] {
    counter->server->Shutdown(std::chrono::system_clock::now());
  }));
  counters_.erase(oldest);
  return true;
}

// gRPC calls a connection by the number of its descriptor. A call that is still under way when the
// number has gone to another connection would be taken for one of that: so numbers take turns.
int Desk::NumberForGrpc(OwnedFd connection) {
  if (next_number_ < kFirstNumber || next_number_ >= kLastNumber) next_number_ = kFirstNumber;
  const int number = ::fcntl(connection.get(), F_DUPFD_CLOEXEC, next_number_);
  next_number_ = number + 1;
  return number < 0 ? connection.release() : number;
}

void Desk::HandOver(OwnedFd connection, uint32_t uid) {
  Counter* counter = CounterOf(uid);
  if (counter == nullptr) return;
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // A second descriptor of ours tells the end of the connection, when gRPC has closed its own.
  OwnedFd watched(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0));
  if (watched.get() < 0) return;
  const int ours = watched.get();
  const int served = NumberForGrpc(std::move(connection));
  const uint64_t id = next_connection_++;
  ++counter->connections;
  counter->last_connection = id;
  sessions_.ConnectionOpened(id);
  {
    const std::lock_guard lock(mutex_);
    connections_.emplace(id, Connection{std::move(watched), served, uid});
    served_[served] = id;
  }
  grpc::AddInsecureChannelFromFd(counter->server.get(), served);
  Watch(epoll_.get(), ours, EPOLLRDHUP | EPOLLHUP | EPOLLERR, id);
}

void Desk::Close(uint64_t id) {
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
  // Closing alone would not do: it is registered for as long as gRPC has its copy open.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, ended.watched.get(), nullptr);
  if (const auto of = counters_.find(ended.uid); of != counters_.end()) --of->second->connections;
  sessions_.ConnectionClosed(id);
}

size_t Desk::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
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

void Desk::SayOnce(bool& said, const std::string& what) {
  if (!std::exchange(said, true)) Say(what);
}

}  // namespace beryl::server
