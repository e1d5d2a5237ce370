// One connection: reads a request, answers, and so on. Only http/server.cc includes this.
#pragma once

#include <array>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "server/http/request_reader.h"
#include "server/http/server_state.h"

namespace beryl::server {

inline HttpAnswer Refusal(int status, std::string_view why) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = fmt::format("{}\n", why);
  return answer;
}

// Empties a value and gives its memory back, which an assignment would keep.
template <typename Value>
void Release(Value& value) {
  const Value gone = std::exchange(value, Value());
}

inline constexpr std::chrono::milliseconds kPauseOfStream{100};
inline constexpr std::chrono::seconds kForTheRest{2};
inline constexpr size_t kPieceOfHead = size_t{4} << 10;
inline constexpr std::string_view kEndOfHead = "\r\n\r\n";
inline constexpr size_t kPieceOfBody = size_t{128} << 10;

// What the deadlines see of a connection.
class HttpServer::State::AnyConnection {
 public:
  AnyConnection(State& server, HttpPeer peer) : server_(server), peer_(std::move(peer)) {
    server_.open.insert(this);
    server_.CountConnections();
  }
  virtual ~AnyConnection() {
    server_.open.erase(this);
    server_.Dismiss(peer_);
    server_.CountConnections();
  }
  AnyConnection(const AnyConnection&) = delete;
  AnyConnection& operator=(const AnyConnection&) = delete;

  void CloseIfOverdue(Clock::time_point now) {
    if (now < deadline_ || is_late_) return;
    is_late_ = true;
    Cancel();
  }
  void CloseIfIdle() {
    if (is_idle_) Cancel();
  }

 protected:
  virtual void Cancel() = 0;
  void Allow(Nanos time) {
    deadline_ = Clock::now() + DurationOf(time);
    is_late_ = false;
  }

  State& server_;
  const HttpPeer peer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool is_late_ = false;
  bool is_idle_ = false;
};

// Reads a request, answers, and so on.
template <typename Stream>
class HttpServer::State::Connection : public AnyConnection {
 public:
  Connection(State& server, HttpPeer peer, Stream stream)
      : AnyConnection(server, std::move(peer)), stream_(std::move(stream)) {}

  // The argument keeps it alive.
  Awaitable<void> Run(std::shared_ptr<Connection> /*self*/) {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      Allow(limits().head_patience);
      auto [error] = co_await stream_.async_handshake(TlsStream::server, kAwait);
      if (error) co_return;
    }
    while (!server_.draining) {
      if (in_.empty()) {
        const bool comes = co_await WaitForMore();
        if (!comes) break;
      }
      const bool stays = co_await Serve();
      if (!stays) break;
    }
  }

 private:
  const HttpLimits& limits() const { return server_.options.limits; }
  auto& socket() { return stream_.lowest_layer(); }
  void Cancel() override {
    error_code ignored;
    socket().cancel(ignored);
  }

  // Without a buffer, so that an idle connection costs little.
  Awaitable<bool> WaitForMore() {
    Release(in_);
    Release(request_);
    Release(fields_);
    Allow(limits().idle_patience);
    is_idle_ = true;
    bool comes = true;
    if constexpr (std::is_same_v<Stream, Socket>) {
      auto [error] = co_await stream_.async_wait(asio::socket_base::wait_read, kAwait);
      comes = !error;
    } else {
      comes = co_await ReadMore(kPieceOfHead);
    }
    is_idle_ = false;
    co_return comes;
  }

  Awaitable<bool> ReadMore(size_t most) {
    const size_t before = in_.size();
    in_.resize(before + most);
    auto [error, count] =
        co_await stream_.async_read_some(asio::buffer(in_.data() + before, most), kAwait);
    in_.resize(before + count);
    co_return !error && count > 0;
  }

  template <typename Buffers>
  Awaitable<bool> Write(const Buffers& buffers) {
    auto [error, count] = co_await asio::async_write(stream_, buffers, kAwait);
    co_return !error;
  }

  // False: the connection ends.
  Awaitable<bool> Serve() {
    Allow(limits().head_patience);
    if (in_.empty()) {
      const bool more = co_await ReadMore(kPieceOfHead);
      if (!more) co_return false;
    }
    const size_t end = in_.find(kEndOfHead);
    std::string head = end == std::string::npos ? "" : in_.substr(0, end + kEndOfHead.size());
    ReadyAnswer ready = server_.prepared.Find(head, server_.Date());
    if (ready.prepared) {
      const bool sent = co_await SendReady(std::move(ready), head.size());
      co_return sent;
    }
    const bool served = co_await ServeNew(std::move(head));
    co_return served;
  }

  Awaitable<bool> SendReady(ReadyAnswer ready, size_t head_bytes) {
    begun_ = Clock::now();
    in_.erase(0, head_bytes);
    const PreparedAnswer& answer = *ready.prepared;
    const SentAnswer& sent = answer.sent;
    AllowToSend(sent.body.size());
    const bool good = co_await Write(std::array{asio::buffer(sent.head), asio::buffer(sent.body)});
    Note(answer.request, *ready.finished, answer.how.not_modified, sent.body.size(), true);
    co_return good&& answer.how.keeps_alive && !server_.draining;
  }

  // `head`: its bytes, if they are there already; otherwise empty.
  Awaitable<bool> ServeNew(std::string head) {
    RequestReader reader(limits());
    std::string body;
    while (!reader.has_head() && !reader.refusal()) {
      const size_t taken = reader.Take(in_, body);
      in_.erase(0, taken);
      if (taken != head.size()) head.clear();
      if (reader.has_head() || reader.refusal()) break;
      const bool more = co_await ReadMore(kPieceOfHead);
      if (more) continue;
      if (is_late_) {
        const bool said = co_await Refuse(Refusal(408, "the head of the request took too long"));
        co_return said;
      }
      if (in_.empty()) co_return false;
      reader.End();
    }
    begun_ = Clock::now();
    request_ = {};
    route_ = nullptr;
    fields_.clear();
    if (reader.has_head()) request_ = reader.TakeRequest();
    request_.peer = peer_.name;
    request_.is_encrypted = std::is_same_v<Stream, TlsStream>;
    is_old_ = reader.has_head() && !reader.is_current();
    keeps_alive_ = !reader.refusal() && reader.keeps_alive() && !server_.draining;
    if (reader.refusal()) {
      const bool said = co_await Refuse(*reader.refusal());
      co_return said;
    }
    if (server_.options.judge) {
      HttpVerdict verdict = server_.options.judge(request_);
      fields_ = std::move(verdict.fields);
      if (verdict.refusal) {
        const bool said = co_await AnswerWithout(reader, std::move(*verdict.refusal));
        co_return said;
      }
    }
    const std::string key = KeyOf(request_);
    if (!key.empty() && reader.is_done()) {
      if (const auto kept = server_.cache.Find(key)) {
        // How long comparing a secret takes must say nothing of it.
        const bool is_secret =
            !request_.Field("authorization").empty() || !request_.Field("cookie").empty();
        if (is_secret) head.clear();
        const bool sent = co_await Send(kept, std::move(head), true);
        co_return sent;
      }
    }
    auto found = server_.options.routes.Find(request_);
    if (auto* refusal = std::get_if<HttpAnswer>(&found)) {
      const bool said = co_await AnswerWithout(reader, std::move(*refusal));
      co_return said;
    }
    route_ = std::get<const HttpRoute*>(found);
    reader.LimitBody(route_->most.value_or(limits().body_bytes));
    if (reader.refusal()) {
      const bool said = co_await Refuse(*reader.refusal());
      co_return said;
    }
    if (reader.wants_continue() && !reader.is_done()) {
      const bool said =
          co_await Write(asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")));
      if (!said) co_return false;
    }
    // GCC 12 destroys what the other branch of a conditional would have made.
    if (route_->upload) {
      const bool served = co_await ServeUpload(reader, std::move(body));
      co_return served;
    }
    const bool served = co_await ServeWhole(reader, std::move(body), key);
    co_return served;
  }

  // What a kept answer is found by; empty: none is kept for such a request.
  static std::string KeyOf(const HttpRequest& request) {
    if (request.method != "GET" && request.method != "HEAD") return {};
    return fmt::format("{}?{}\n{}", request.path, request.query, request.Field("accept"));
  }

  // The next bytes of the body, behind those in `body`. False: it ends here, and `broken_` says
  // whether the client can still be told.
  Awaitable<bool> ReadBody(RequestReader& reader, std::string& body, uint64_t before) {
    while (!reader.is_done() && !reader.refusal() && body.size() < kPieceOfBody) {
      in_.erase(0, reader.Take(in_, body));
      if (reader.is_done() || reader.refusal()) break;
      if (body.size() >= kPieceOfBody) break;
      const double slow = static_cast<double>(before + body.size()) /
                          static_cast<double>(limits().least_bytes_per_s);
      deadline_ = begun_ + DurationOf(limits().body_patience + ToNanos(Seconds{slow}));
      const bool more = co_await ReadMore(kPieceOfBody);
      if (!more && is_late_) reader.Refuse(408, "the body of the request took too long");
      if (!more) reader.End();
    }
    co_return !reader.refusal();
  }

  Awaitable<bool> ServeWhole(RequestReader& reader, std::string body, std::string key) {
    while (!reader.is_done()) {
      std::string piece;
      const bool good = co_await ReadBody(reader, piece, body.size());
      if (!good) {
        const bool said = co_await Refuse(*reader.refusal());
        co_return said;
      }
      body += piece;
    }
    request_.body = std::move(body);
    deadline_ = Clock::time_point::max();
    // Packed where it is made: that saves a second way to a worker and back.
    auto made = co_await server_.OnWorker(
        [&] {
          FinishedAnswer answer = Finish(AnswerOf(*route_, request_));
          if (TakesPacked(answer)) Pack(answer);
          return answer;
        },
        route_->is_slow);
    if (!made) {
      const bool said = co_await Refuse(Busy());
      co_return said;
    }
    Release(request_.body);
    const auto finished = std::make_shared<FinishedAnswer>(std::move(*made));
    finished->route = route_->path;
    if (!key.empty() && finished->answer.reuse >= HttpReuse::kKeep &&
        finished->answer.status == 200) {
      server_.cache.Keep(key, finished);
      CountKept();
    }
    const bool sent = co_await Send(finished);
    co_return sent;
  }

  void CountKept() {
    const std::lock_guard lock(server_.mutex);
    server_.figures.kept_answers = server_.cache.size();
    server_.figures.kept_bytes = server_.cache.bytes();
  }

  Awaitable<bool> ServeUpload(RequestReader& reader, std::string body) {
    std::unique_ptr<HttpUpload> upload;
    std::optional<HttpAnswer> answer;
    auto begun = co_await server_.OnWorker([&] { return route_->upload(request_); });
    if (!begun) answer = Busy();
    if (begun) {
      if (auto* refusal = std::get_if<HttpAnswer>(&*begun)) {
        answer = std::move(*refusal);
      } else {
        upload = std::move(std::get<std::unique_ptr<HttpUpload>>(*begun));
      }
    }
    uint64_t taken = 0;
    while (!answer && !(reader.is_done() && body.empty())) {
      const bool good = co_await ReadBody(reader, body, taken);
      if (!good) answer = *reader.refusal();
      if (answer) break;
      taken += body.size();
      deadline_ = Clock::time_point::max();
      auto refused = co_await server_.OnWorker([&] { return upload->Take(body); });
      if (!refused) {
        answer = Busy();
      } else if (*refused) {
        answer = std::move(**refused);
      }
      body.clear();
    }
    if (!answer) {
      auto finished = co_await server_.OnWorker([&] { return upload->Finish(); }, true);
      answer = finished ? std::move(*finished) : Busy();
    }
    // Leaving an upload may remove files.
    if (upload) {
      co_await server_.OnWorker([&] {
        upload.reset();
        return true;
      });
    }
    const bool said = co_await AnswerWithout(reader, std::move(*answer));
    co_return said;
  }

  bool TakesPacked(const FinishedAnswer& finished) const {
    return finished.packs && TakesGzip(request_.Field("accept-encoding"));
  }

  static HttpAnswer Busy() {
    HttpAnswer answer = Refusal(503, "the server is busy; try again in a second");
    answer.fields.push_back({"retry-after", "1"});
    return answer;
  }

  // An answer to a request whose body may not have been read.
  Awaitable<bool> AnswerWithout(RequestReader& reader, HttpAnswer answer) {
    if (!reader.is_done()) {
      const bool said = co_await Refuse(std::move(answer));
      co_return said;
    }
    auto finished = std::make_shared<FinishedAnswer>(Finish(std::move(answer)));
    const bool sent = co_await Send(std::move(finished));
    co_return sent;
  }

  // Answers and closes. What the client still sends is read for a while, because closing at once
  // would take the answer from it.
  Awaitable<bool> Refuse(HttpAnswer answer) {
    keeps_alive_ = false;
    if (answer.fields.empty() && answer.type == HttpAnswer().type) {
      answer = server_.options.routes.Refuse(request_, std::move(answer));
    }
    auto finished = std::make_shared<FinishedAnswer>(Finish(std::move(answer)));
    co_await Send(std::move(finished));
    error_code ignored;
    socket().shutdown(asio::socket_base::shutdown_send, ignored);
    Allow(Nanos{std::chrono::nanoseconds(kForTheRest).count()});
    bool more = true;
    while (more) {
      in_.clear();
      more = co_await ReadMore(kPieceOfBody);
    }
    co_return false;
  }

  // `head`: that of a request that is answered the same the next time; empty: that is not known.
  Awaitable<bool> Send(std::shared_ptr<FinishedAnswer> finished, std::string head = {},
                       bool from_memory = false) {
    SendOptions how;
    const HttpAnswer& answer = finished->answer;
    how.gzip = TakesPacked(*finished);
    if (!how.gzip && finished->is_only_packed()) {
      auto made = co_await server_.OnWorker([&] { return Unpacked(*finished); });
      if (!made) {
        const bool said = co_await Refuse(Busy());
        co_return said;
      }
      server_.cache.Complete(*finished, std::move(*made));
      CountKept();
    }
    if (how.gzip && !finished->gzip) {
      auto made = co_await server_.OnWorker([&] { return Packed(*finished); });
      how.gzip = made.has_value();
      if (made) server_.cache.Complete(*finished, std::move(*made));
      CountKept();
    }
    const std::string_view asked = request_.Field("if-none-match");
    how.not_modified =
        !finished->tag.empty() && !asked.empty() && HasTag(asked, finished->TagOf(how.gzip));
    how.head_only = request_.method == "HEAD";
    how.keeps_alive = keeps_alive_;
    how.is_old = is_old_;
    how.date = server_.Date();
    const bool streams = answer.stream != nullptr && !how.head_only;
    if (streams && is_old_ && !answer.stream->size()) how.keeps_alive = keeps_alive_ = false;
    const SentAnswer sent = Compose(*finished, how, fields_);
    if (!head.empty()) {
      server_.prepared.Keep(head, {request_, finished, how, fields_, server_.Date(), {}});
    }
    AllowToSend(sent.body.size());
    bool good = co_await Write(std::array{asio::buffer(sent.head), asio::buffer(sent.body)});
    uint64_t bytes = sent.body.size();
    if (good && streams) good = co_await SendStream(*answer.stream, bytes);
    Note(request_, *finished, how.not_modified, bytes, from_memory);
    co_return good&& keeps_alive_;
  }

  void Note(const HttpRequest& request, const FinishedAnswer& finished, bool not_modified,
            uint64_t bytes, bool from_memory) {
    const std::string_view route =
        route_ != nullptr && !from_memory ? std::string_view(route_->path) : finished.route;
    const Seconds time{std::chrono::duration<double>(Clock::now() - begun_).count()};
    server_.Note({&request, peer_.name, route, not_modified ? 304 : finished.answer.status, bytes,
                  time, from_memory});
  }

  void AllowToSend(size_t bytes) {
    const double slow =
        static_cast<double>(bytes) / static_cast<double>(limits().least_bytes_per_s);
    Allow(limits().body_patience + ToNanos(Seconds{slow}));
  }

  Awaitable<bool> SendStream(HttpStream& stream, uint64_t& bytes) {
    const bool chunked = !stream.size() && !is_old_;
    Timer pause(server_.io.get_executor());
    while (true) {
      deadline_ = Clock::time_point::max();
      auto made = co_await server_.OnWorker([&] { return stream.Next(); });
      // Too many wait: what comes later comes later.
      const bool has_none = made && *made && (*made)->empty();
      if (!made || has_none) {
        if (server_.draining) break;
        pause.expires_after(kPauseOfStream);
        co_await pause.async_wait(kAwait);
        continue;
      }
      if (!*made) break;
      const std::string& piece = **made;
      bytes += piece.size();
      AllowToSend(piece.size());
      bool good = true;
      if (chunked) {
        const std::string size = fmt::format("{:x}\r\n", piece.size());
        good = co_await Write(std::array{asio::buffer(size), asio::buffer(piece),
                                         asio::buffer(std::string_view("\r\n"))});
      } else {
        good = co_await Write(asio::buffer(piece));
      }
      if (!good) co_return false;
    }
    if (!chunked) co_return !stream.size() || bytes == *stream.size();
    Allow(limits().body_patience);
    const bool ended = co_await Write(asio::buffer(std::string_view("0\r\n\r\n")));
    co_return ended;
  }

  Stream stream_;
  std::string in_;  // what was read and not used yet
  HttpRequest request_;
  const HttpRoute* route_ = nullptr;
  std::vector<HttpField> fields_;
  Clock::time_point begun_;
  bool keeps_alive_ = false;
  bool is_old_ = false;
};

}  // namespace beryl::server
