#include "server/http/client.h"

#include <fcntl.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace beryl::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr uint32_t kMostOfHead = 8192;

// What a network failure is not: an answer that is not HTTP.
bool IsAboutHttp(const beast::error_code& error) {
  static const auto& category = make_error_code(http::error::end_of_stream).category();
  return error.category() == category && error != http::error::end_of_stream;
}

Result<int> TryToPost(const HttpTarget& target, std::string_view type, std::string_view body,
                      Nanos patience, int stop) {
  asio::io_context io;
  asio::ip::tcp::resolver resolver(io);
  beast::tcp_stream stream(io);
  asio::posix::stream_descriptor stopped(io);
  http::request<http::string_body> request(http::verb::post, target.path, 11);
  request.set(http::field::host, target.host + ":" + target.port);
  request.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  request.keep_alive(false);
  request.body() = body;
  request.prepare_payload();
  http::response_parser<http::empty_body> answer;
  answer.header_limit(kMostOfHead);
  beast::flat_buffer buffer;
  std::optional<beast::error_code> outcome;

  // Each step ends the work or begins the next.
  const auto then = [&](auto next) {
    return [&outcome, &io, next](const beast::error_code& error, const auto&...) {
      if (!error) return next();
      outcome = error;
      io.stop();
    };
  };
  const auto done = then([&] {
    outcome.emplace();
    io.stop();
  });
  const auto receive = then([&] { http::async_read_header(stream, buffer, answer, done); });
  const auto send = then([&] { http::async_write(stream, request, receive); });
  resolver.async_resolve(
      target.host, target.port,
      [&](const beast::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
        then([&] { stream.async_connect(found, send); })(error);
      });
  if (stop >= 0) {
    stopped.assign(::fcntl(stop, F_DUPFD_CLOEXEC, 0));
    stopped.async_wait(asio::posix::descriptor_base::wait_read,
                       [&](const beast::error_code&) { io.stop(); });
  }
  io.run_for(std::chrono::nanoseconds(patience.value));
  if (outcome && !*outcome) return static_cast<int>(answer.get().result_int());
  const std::string why = !outcome ? "no answer in time"
                          : IsAboutHttp(*outcome) || *outcome == http::error::end_of_stream
                              ? "no HTTP answer"
                              : outcome->message();
  return IoError(fmt::format("{}:{}: {}", target.host, target.port, why));
}

}  // namespace

Result<int> Post(const HttpTarget& target, std::string_view type, std::string_view body,
                 Nanos patience, int stop) {
  try {
    return TryToPost(target, type, body, patience, stop);
  } catch (const boost::system::system_error& error) {  // such as no more descriptors
    return IoError(fmt::format("{}:{}: {}", target.host, target.port, error.what()));
  }
}

}  // namespace beryl::server
