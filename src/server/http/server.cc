#include "server/http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <future>
#include <system_error>

#include <fmt/format.h>

#include "server/http/connection.h"
#include "server/http/server_state.h"
#include "server/peer.h"

namespace beryl::server {
namespace {

constexpr std::chrono::milliseconds kOutOfDescriptors{100};
constexpr int kAtOnce = 16;
constexpr size_t kRefusedAtOnce = 64;

HttpPeer LocalUser(int fd, const HttpLimits& limits) {
  const auto owner = OwnerOfPeer(fd);
  return {owner ? fmt::format("user {}", *owner) : "unknown", limits.connections_of_peer,
          owner == 0U};
}

size_t ClassOf(Seconds time) {
  const auto* const end = std::end(HttpFigures::kClasses);
  return static_cast<size_t>(std::lower_bound(std::begin(HttpFigures::kClasses), end, time.value) -
                             std::begin(HttpFigures::kClasses));
}

Result<std::shared_ptr<asio::ssl::context>> MakeTls(const std::string& certificate,
                                                    const std::string& key) {
  try {
    auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    tls->use_certificate_chain(asio::buffer(certificate));
    tls->use_private_key(asio::buffer(key), asio::ssl::context::pem);
    return tls;
  } catch (const boost::system::system_error& error) {
    return InvalidError(
        fmt::format("the TLS certificate and its key cannot be used: {}", error.code().message()));
  }
}

}  // namespace

void HttpFigures::Add(const HttpFigures& other) {
  for (const auto& [route, more] : other.routes) {
    OfRoute& sum = routes[route];
    for (const auto& [status, count] : more.requests) sum.requests[status] += count;
    for (size_t i = 0; i < sum.times.in_class.size(); ++i) {
      sum.times.in_class[i] += more.times.in_class[i];
    }
    sum.times.sum_s += more.times.sum_s;
    sum.times.count += more.times.count;
  }
  connections += other.connections;
  streams += other.streams;
  connections_refused += other.connections_refused;
  kept_answers += other.kept_answers;
  kept_bytes += other.kept_bytes;
  answered_from_memory += other.answered_from_memory;
}

HttpServer::State::State(Address where, HttpOptions given)
    : address(std::move(where)), options(std::move(given)), cache(options.limits.cache_bytes) {
  if (options.peer_of) return;
  options.peer_of = [this](int fd) { return LocalUser(fd, options.limits); };
}

void HttpServer::State::Start(int fd) {
  listener.assign(fd);
  asio::co_spawn(io, AcceptAll(), asio::detached);
  asio::co_spawn(io, CloseOverdue(), asio::detached);
  const auto employ = [&](Lane& lane, size_t workers) {
    for (size_t i = 0; i < std::max<size_t>(workers, 1); ++i) {
      lane.workers.emplace_back([this, &lane] { Work(lane); });
    }
  };
  employ(quick_lane, options.limits.workers);
  const std::vector<HttpRoute>& routes = options.routes.routes();
  if (std::any_of(routes.begin(), routes.end(),
                  [](const HttpRoute& route) { return route.is_slow || route.upload; })) {
    employ(slow_lane, options.limits.slow_workers);
  }
  connecting = std::thread([this] { io.run(); });
}

// The workers end first: they write into what coroutines hold.
void HttpServer::State::Stop() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    for (Lane* lane : {&quick_lane, &slow_lane}) lane->waiting.clear();
  }
  for (Lane* lane : {&quick_lane, &slow_lane}) {
    lane->changed.notify_all();
    for (std::thread& worker : lane->workers) worker.join();
    lane->workers.clear();
  }
  io.stop();
  if (connecting.joinable()) connecting.join();
}

void HttpServer::State::Work(Lane& lane) {
  std::unique_lock lock(mutex);
  while (true) {
    lane.changed.wait(lock, [&] { return stopping || !lane.waiting.empty(); });
    if (stopping) return;
    const std::function<void()> work = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

// Strangers cannot take all connections, and root, who must be able to look, is never refused.
// Returns 0, or the status of the refusal.
int HttpServer::State::Admit(const HttpPeer& peer) {
  size_t& theirs = of_peer[peer.name];
  if (!peer.is_root && (open.size() >= options.limits.connections || theirs >= peer.connections)) {
    const int status = open.size() >= options.limits.connections ? 503 : 429;
    if (theirs == 0) of_peer.erase(peer.name);
    const std::lock_guard lock(mutex);
    ++figures.connections_refused;
    return status;
  }
  ++theirs;
  return 0;
}

void HttpServer::State::Dismiss(const HttpPeer& peer) {
  const auto known = of_peer.find(peer.name);
  if (--known->second == 0) of_peer.erase(known);
}

void HttpServer::State::CountConnections() {
  const std::lock_guard lock(mutex);
  figures.connections = open.size();
}

void HttpServer::State::Note(const HttpExchange& exchange) {
  {
    const std::lock_guard lock(mutex);
    auto route = figures.routes.find(exchange.route);
    if (route == figures.routes.end())
      route = figures.routes.emplace(exchange.route, HttpFigures::OfRoute{}).first;
    ++route->second.requests[exchange.status];
    HttpFigures::Times& times = route->second.times;
    ++times.in_class[ClassOf(exchange.time)];
    times.sum_s += exchange.time.value;
    ++times.count;
    figures.answered_from_memory += exchange.from_memory ? 1 : 0;
  }
  if (options.log) options.log(exchange);
}

const std::string& HttpServer::State::Date() {
  const std::time_t now = std::time(nullptr);
  if (date.first == now) return date.second;
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[64];
  // Not strftime's names: they follow the locale.
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::strftime(text, sizeof(text), "%Y %H:%M:%S GMT", &parts);
  date = {now, fmt::format("{}, {:02} {} {}", kDays[parts.tm_wday], parts.tm_mday,
                           kMonths[parts.tm_mon], text)};
  return date.second;
}

// One sweep for all connections costs less than a timer for each.
Awaitable<void> HttpServer::State::CloseOverdue() {
  const HttpLimits& limits = options.limits;
  const Nanos least = std::min({limits.head_patience, limits.body_patience, limits.idle_patience});
  const auto every = std::clamp<Clock::duration>(
      DurationOf(least) / 8, std::chrono::milliseconds(5), std::chrono::milliseconds(250));
  Timer timer(io.get_executor());
  while (true) {
    timer.expires_after(every);
    co_await timer.async_wait(kAwait);
    const auto now = Clock::now();
    for (AnyConnection* connection : open) connection->CloseIfOverdue(now);
  }
}

Awaitable<void> HttpServer::State::TurnAway(Socket socket, int status) {
  HttpAnswer answer;
  answer.status = status;
  answer.body =
      status == 429 ? "you have too many connections\n" : "there are too many connections\n";
  answer.fields.push_back({"retry-after", "5"});
  const FinishedAnswer finished = Finish(std::move(answer));
  SendOptions how;
  how.keeps_alive = false;
  const SentAnswer sent = Compose(finished, how, {});
  error_code ignored;
  const std::string whole = sent.head + std::string(sent.body);
  // It fits into the socket's buffer, or the client does not read.
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(whole), ignored);
  socket.shutdown(asio::socket_base::shutdown_send, ignored);
  // Closing at once, with the request unread, would take the answer from the client.
  Timer pause(io.get_executor());
  pause.expires_after(std::chrono::milliseconds(200));
  co_await pause.async_wait(kAwait);
  char rest[4096];
  socket.read_some(asio::buffer(rest), ignored);
  --refusing;
}

void HttpServer::State::Take(OwnedFd fd, int family) {
  const HttpPeer peer = options.peer_of(fd.get());
  if (!peer.is_root && fd.get() >= options.limits.descriptors) return;
  error_code error;
  Socket socket(io.get_executor());
  socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), error);
  if (error) return;
  fd.release();
  if (const int status = Admit(peer); status != 0) {
    if (refusing >= kRefusedAtOnce || tls) return;
    ++refusing;
    asio::co_spawn(io, TurnAway(std::move(socket), status), asio::detached);
    return;
  }
  const int on = 1;
  if (family != AF_UNIX) {
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  const auto run = [&](auto connection) {
    asio::co_spawn(io, connection->Run(connection), asio::detached);
  };
  if (tls) {
    run(std::make_shared<Connection<TlsStream>>(*this, peer, TlsStream(std::move(socket), *tls)));
  } else {
    run(std::make_shared<Connection<Socket>>(*this, peer, std::move(socket)));
  }
}

Awaitable<void> HttpServer::State::AcceptAll() {
  Timer pause(io.get_executor());
  while (!draining) {
    auto [gone] = co_await listener.async_wait(asio::posix::descriptor_base::wait_read, kAwait);
    if (gone) co_return;
    // Those who are connected get their turn, too.
    for (int i = 0; i < kAtOnce && !draining; ++i) {
      sockaddr_storage peer{};
      socklen_t size = sizeof(peer);
      OwnedFd fd(::accept4(listener.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                           SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd.get() >= 0) {
        Take(std::move(fd), peer.ss_family);
        continue;
      }
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EMFILE && errno != ENFILE) break;
      pause.expires_after(kOutOfDescriptors);
      co_await pause.async_wait(kAwait);
    }
  }
}

Result<std::unique_ptr<HttpServer>> HttpServer::Open(const Address& address, HttpOptions options) {
  Address bound = address;
  const int listener = TRY(Listen(bound));
  return On(listener, bound, std::move(options));
}

Result<std::unique_ptr<HttpServer>> HttpServer::On(int listener, const Address& address,
                                                   HttpOptions options) {
  OwnedFd fd(listener);
  std::unique_ptr<HttpServer> server;
  try {
    server.reset(new HttpServer(std::make_unique<State>(address, std::move(options))));
    State& state = *server->state_;
    if (!state.options.certificate.empty()) {
      state.tls = TRY(MakeTls(state.options.certificate, state.options.key));
    }
    state.Start(fd.release());
    return server;
  } catch (const boost::system::system_error& error) {
    return IoError(fmt::format("cannot serve on {}: {}", address.text(), error.what()));
  } catch (const std::system_error& error) {  // such as no more threads
    return IoError(fmt::format("cannot serve on {}: {}", address.text(), error.what()));
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpServer::~HttpServer() {
  const Address address = state_->address;
  state_.reset();
  if (address.is_unix()) ::unlink(address.path.c_str());
}

const Address& HttpServer::address() const { return state_->address; }

HttpFigures HttpServer::figures() const {
  const std::lock_guard lock(state_->mutex);
  return state_->figures;
}

void HttpServer::Drain(Nanos patience) {
  State& state = *state_;
  asio::post(state.io, [&state] {
    state.draining = true;
    error_code ignored;
    state.listener.close(ignored);
    for (State::AnyConnection* connection : state.open) connection->CloseIfIdle();
  });
  const auto end = Clock::now() + DurationOf(patience);
  while (connections() > 0 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void HttpServer::Reconsider() {
  std::promise<void> done;
  asio::post(state_->io, [&] {
    state_->prepared.Clear();
    done.set_value();
  });
  done.get_future().wait();
}

Status HttpServer::UseCertificate(const std::string& certificate, const std::string& key) {
  auto tls = TRY(MakeTls(certificate, key));
  asio::post(state_->io, [state = state_.get(), tls] { state->tls = tls; });
  return {};
}

}  // namespace beryl::server
