// What the connections of a server share: its loop, its workers and its books. Only http/server.cc
// includes this.
#pragma once

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/http/finished_answer.h"
#include "server/http/prepared_answers.h"
#include "server/http/server.h"
#include "server/socket.h"

namespace beryl::server {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Executor = asio::io_context::executor_type;
template <typename T>
using Awaitable = asio::awaitable<T, Executor>;
using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
using TlsStream = asio::ssl::stream<Socket>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable_t<Executor>{});

inline Clock::duration DurationOf(Nanos time) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(time.value));
}

struct HttpServer::State {
  State(Address where, HttpOptions given);
  ~State() { Stop(); }

  class AnyConnection;
  template <typename Stream>
  class Connection;

  void Start(int listener);
  void Stop();
  // Work that waits, and the threads that do it.
  struct Lane {
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;  // by mutex
    std::vector<std::thread> workers;
  };
  void Work(Lane& lane);
  Awaitable<void> AcceptAll();
  Awaitable<void> CloseOverdue();
  Awaitable<void> TurnAway(Socket socket, int status);
  void Take(OwnedFd fd, int family);
  int Admit(const HttpPeer& peer);
  void Dismiss(const HttpPeer& peer);
  void CountConnections();
  void Note(const HttpExchange& exchange);
  const std::string& Date();  // of now, as HTTP writes it

  // Runs `call` on a worker thread and goes on here with its result; nothing if too many wait, or
  // it threw.
  template <typename Call, typename Value = std::invoke_result_t<Call>>
  Awaitable<std::optional<Value>> OnWorker(Call call, bool is_slow = false);

  const Address address;
  HttpOptions options;
  // What follows belongs to the thread of the connections.
  AnswerCache cache;
  PreparedAnswers prepared;
  std::set<AnyConnection*> open;
  std::map<std::string, size_t> of_peer;
  size_t refusing = 0;
  bool draining = false;
  std::shared_ptr<asio::ssl::context> tls;
  std::pair<std::time_t, std::string> date;

  mutable std::mutex mutex;
  HttpFigures figures;    // by mutex
  bool stopping = false;  // by mutex

  // Destroyed before what its connections use.
  asio::io_context io{1};
  asio::posix::basic_stream_descriptor<Executor> listener{io.get_executor()};
  std::thread connecting;
  Lane quick_lane;
  Lane slow_lane;  // without workers, if no route is slow
};

template <typename Call, typename Value>
Awaitable<std::optional<Value>> HttpServer::State::OnWorker(Call call, bool is_slow) {
  Lane& lane = is_slow && !slow_lane.workers.empty() ? slow_lane : quick_lane;
  std::optional<Value> value;
  Timer done(io.get_executor(), Clock::time_point::max());
  bool is_done = false;
  {
    const std::lock_guard lock(mutex);
    if (lane.waiting.size() >= options.limits.waiting) co_return value;
    lane.waiting.push_back([&] {
      try {
        value.emplace(call());
      } catch (const std::exception&) {
        // Not even memory for an answer that says so.
      }
      asio::post(io, [&] {
        is_done = true;
        done.cancel();
      });
    });
  }
  lane.changed.notify_one();
  // The references above live until then, whatever happens to the client.
  while (!is_done) co_await done.async_wait(kAwait);
  co_return value;
}

}  // namespace beryl::server
