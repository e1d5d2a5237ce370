#include "server/http/request_reader.h"

#include <algorithm>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr size_t kPiece = size_t{64} << 10;
// "0\r\n\r\n": no body in chunks is shorter, and the parser asserts that it gets as much.
constexpr size_t kEndOfChunks = 5;

std::string_view ViewOf(beast::string_view text) { return {text.data(), text.size()}; }

bool HasControls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

}  // namespace

struct RequestReader::Parsing {
  http::request_parser<http::buffer_body> parser;
};

RequestReader::RequestReader(const HttpLimits& limits)
    : limits_(limits), parsing_(std::make_unique<Parsing>()), most_(limits.body_bytes) {
  parsing_->parser.header_limit(static_cast<uint32_t>(limits.head_bytes));
  parsing_->parser.body_limit(boost::none);  // it is counted here
  parsing_->parser.eager(false);
}

RequestReader::~RequestReader() = default;

void RequestReader::Refuse(int status, std::string_view why) {
  if (refusal_) return;
  refusal_.emplace();
  refusal_->status = status;
  refusal_->body = fmt::format("{}\n", why);
}

bool RequestReader::has_head() const { return parsing_->parser.is_header_done(); }
bool RequestReader::is_done() const { return parsing_->parser.is_done(); }

size_t RequestReader::Take(std::string_view bytes, std::string& body) {
  auto& parser = parsing_->parser;
  size_t taken = 0;
  while (!refusal_ && !parser.is_done() && taken < bytes.size()) {
    const bool had_head = parser.is_header_done();
    if (had_head && parser.chunked() && bytes.size() - taken < kEndOfChunks) break;
    auto& room = parser.get().body();
    const size_t before = body.size();
    if (had_head) {
      body.resize(before + std::min(kPiece, bytes.size() - taken));
      room.data = body.data() + before;
      room.size = body.size() - before;
      room.more = true;
    }
    const size_t offered = room.size;
    beast::error_code error;
    const size_t used =
        parser.put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
    taken += used;
    const size_t of_body = had_head ? offered - room.size : 0;
    if (had_head) body.resize(before + of_body);
    if (had_head) {
      CheckOverhead(used, of_body);
    } else if ((head_bytes_ += used) > limits_.head_bytes) {
      // The parser limits what it has not taken yet: of a head that comes in pieces, the last
      // field.
      RefuseLongHead();
    }
    if (error == http::error::need_more || error == http::error::need_buffer) {
      if (error == http::error::need_more && used == 0) {
        // A head has a limit of its own; what is not parsed of a body is a chunk's head or a
        // trailer.
        if (had_head && bytes.size() - taken > limits_.head_bytes)
          Refuse(431, "a chunk's head is too long");
        break;
      }
    } else if (error == http::error::header_limit) {
      RefuseLongHead();
    } else if (error == http::error::bad_version) {
      Refuse(505, "this server speaks HTTP/1.1");
    } else if (error) {
      Refuse(400, fmt::format("this is not an HTTP/1.1 request: {}", error.message()));
    }
    if (!had_head && parser.is_header_done()) {
      CheckHead();
      break;
    }
  }
  return taken;
}

void RequestReader::RefuseLongHead() {
  Refuse(431, fmt::format("the head is longer than {} bytes", limits_.head_bytes));
}

void RequestReader::CheckOverhead(size_t taken, size_t of_body) {
  body_bytes_ += of_body;
  overhead_ = of_body > 0 ? 0 : overhead_ + taken;
  if (overhead_ > limits_.head_bytes) Refuse(431, "the trailer is too long");
  if (body_bytes_ > most_) {
    Refuse(413, fmt::format("the body is longer than {} bytes", most_));
  }
}

// What proxies and servers have read differently, to the profit of attackers.
void RequestReader::CheckHead() {
  const auto& head = parsing_->parser.get();
  size_t lengths = 0;
  size_t encodings = 0;
  size_t hosts = 0;
  for (const auto& field : head) {
    const std::string_view value = ViewOf(field.value());
    if (HasControls(value)) return Refuse(400, "a field has control characters");
    if (field.name() == http::field::content_length) {
      ++lengths;
      // Beast takes a list of equal ones.
      if (value.find_first_not_of("0123456789") != std::string_view::npos) {
        return Refuse(400, "the length of the body is not a number");
      }
    }
    hosts += field.name() == http::field::host ? 1U : 0U;
    if (field.name() == http::field::transfer_encoding) {
      ++encodings;
      if (LowerCase(value) != "chunked") {
        return Refuse(501, "of transfer encodings there is only chunked");
      }
    }
  }
  const std::string_view target = ViewOf(head.target());
  if (HasControls(target)) return Refuse(400, "the target has control characters");
  if (target.size() > limits_.target_bytes) {
    return Refuse(414, fmt::format("the target is longer than {} bytes", limits_.target_bytes));
  }
  if (!target.starts_with('/')) {
    return Refuse(400, "the target has to be a path, such as /api/v1/models");
  }
  if (hosts > 1) return Refuse(400, "there is more than one Host");
  if (lengths > 1 || encodings > 1 || (lengths > 0 && encodings > 0)) {
    return Refuse(400, "there is more than one length of the body");
  }
  if (encodings > 0 && head.version() < 11) {
    return Refuse(400, "HTTP/1.0 has no transfer encodings");
  }
  const std::string_view expect = ViewOf(head[http::field::expect]);
  if (!expect.empty() && LowerCase(expect) != "100-continue") {
    return Refuse(417, "of expectations there is only 100-continue");
  }
}

void RequestReader::End() {
  if (!is_done()) Refuse(400, "the request has no end");
}

void RequestReader::LimitBody(uint64_t bytes) {
  most_ = bytes;
  const auto size = body_size();
  if (size && *size > most_) {
    Refuse(413, fmt::format("the body is longer than {} bytes", most_));
  }
}

bool RequestReader::is_current() const { return parsing_->parser.get().version() >= 11; }

bool RequestReader::keeps_alive() const { return parsing_->parser.get().keep_alive(); }

bool RequestReader::wants_continue() const {
  return is_current() && !ViewOf(parsing_->parser.get()[http::field::expect]).empty();
}

std::optional<uint64_t> RequestReader::body_size() const {
  const auto& parser = parsing_->parser;
  if (parser.chunked()) return std::nullopt;
  const auto length = parser.content_length();
  return length ? *length : 0;
}

HttpRequest RequestReader::TakeRequest() {
  const auto& head = parsing_->parser.get();
  HttpRequest request;
  request.method = ViewOf(head.method_string());
  const std::string_view target = ViewOf(head.target());
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = target.substr(mark + 1);
  for (const auto& field : head) {
    request.fields.push_back(
        {LowerCase(ViewOf(field.name_string())), std::string(ViewOf(field.value()))});
  }
  return request;
}

}  // namespace beryl::server
