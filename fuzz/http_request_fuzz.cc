// What a server of HTTP reads of a request must not depend on how the network cut it, and must be
// what every other program reads of it: then no proxy in front takes for one request what is two.
// The first byte of the input chooses the size of the pieces.
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "require.h"
#include "server/http/request_reader.h"
#include "server/site.h"

namespace beryl::server {
namespace {

using fuzz::Require;

HttpLimits SmallLimits() {
  HttpLimits limits;
  limits.head_bytes = 1024;
  limits.target_bytes = 256;
  limits.body_bytes = 512;
  return limits;
}

struct Read {
  std::optional<HttpAnswer> refusal;
  std::optional<HttpRequest> request;
  std::optional<uint64_t> size;  // as the head says it; nothing: in chunks
  std::string body;
  size_t taken = 0;
};

// As a connection does it.
Read ReadIn(std::string_view bytes, size_t piece) {
  const HttpLimits limits = SmallLimits();
  RequestReader reader(limits);
  Read read;
  std::string in;
  size_t at = 0;
  while (!reader.is_done() && !reader.refusal()) {
    const bool had_head = reader.has_head();
    const size_t before = read.body.size();
    const size_t taken = reader.Take(in, read.body);
    Require(taken <= in.size(), "no more is taken than there is");
    Require(read.body.size() - before <= taken, "a body has no more bytes than were taken");
    read.taken += taken;
    in.erase(0, taken);
    if (reader.is_done() || reader.refusal() || had_head != reader.has_head()) continue;
    if (at >= bytes.size()) {
      reader.End();
    } else {
      in += bytes.substr(at, piece);
      at += piece;
    }
    Require(in.size() <= limits.head_bytes + piece + 64, "what is kept is bounded");
  }
  if (reader.has_head()) {
    read.size = reader.body_size();
    read.request = reader.TakeRequest();
  }
  read.refusal = reader.refusal();
  return read;
}

// The body of these chunks and the bytes that they take, read as RFC 9112 has it.
std::optional<size_t> ReadChunks(std::string_view text, std::string& body) {
  size_t at = 0;
  const auto line = [&]() -> std::optional<std::string_view> {
    const size_t end = text.find("\r\n", at);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view found = text.substr(at, end - at);
    at = end + 2;
    return found;
  };
  while (true) {
    const auto head = line();
    if (!head) return std::nullopt;
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(head->data(), head->data() + head->size(), size, 16);
    if (error != std::errc() || size > text.size() - at) return std::nullopt;
    const std::string_view rest = Trim(head->substr(static_cast<size_t>(end - head->data())));
    if (!rest.empty() && rest.front() != ';') return std::nullopt;
    if (size == 0) break;
    body += text.substr(at, size);
    at += size;
    if (text.substr(at, 2) != "\r\n") return std::nullopt;
    at += 2;
  }
  while (const auto trailer = line()) {
    if (trailer->empty()) return at;
  }
  return std::nullopt;
}

void CheckAccepted(std::string_view text, const Read& read) {
  const HttpLimits limits = SmallLimits();
  const size_t end = text.find("\r\n\r\n");
  Require(end != std::string_view::npos && read.request, "an accepted request has a head");
  const size_t head_bytes = end + 4;
  Require(head_bytes <= limits.head_bytes, "a head is not longer than it may be");
  Require(read.body.size() <= limits.body_bytes, "nor is a body");
  Require(read.request->path.starts_with('/'), "a target is a path");
  size_t lengths = 0;
  for (const HttpField& field : read.request->fields) {
    Require(!field.name.empty(), "a field has a name");
    for (const char letter : field.name) {
      Require(letter > ' ' && letter < 0x7f && std::isupper(letter) == 0,
              "names of fields have small letters and no controls");
    }
    Require(field.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos,
            "a field is one line");
    lengths += field.name == "content-length" || field.name == "transfer-encoding" ? 1U : 0U;
  }
  Require(lengths <= 1, "a body has one length");
  if (read.size) {
    Require(read.body.size() == *read.size, "a body has the size that its head says");
    Require(read.taken == head_bytes + *read.size, "the next request begins behind the body");
    Require(read.body == text.substr(head_bytes, *read.size), "a body is as it was sent");
    return;
  }
  std::string body;
  const auto of_chunks = ReadChunks(text.substr(head_bytes), body);
  Require(of_chunks.has_value(), "chunks are whole");
  Require(body == read.body, "a body is its chunks, one after the other");
  Require(read.taken == head_bytes + *of_chunks, "the next request begins behind the chunks");
}

void CheckPolicy(const HttpRequest& request) {
  SitePolicy policy;
  policy.hosts = {"localhost"};
  policy.token = "a token that nobody guesses";
  Require(IsOpen(request.path) || Judge(policy, request).refusal,
          "nobody is let in without the token");
  policy.token.clear();
  policy.read_only = true;
  const bool changes = request.method != "GET" && request.method != "HEAD" &&
                       request.method != "OPTIONS" && !OnlyAsks(request.path);
  Require(!changes || Judge(policy, request).refusal, "nothing is changed if that is forbidden");
  if (const auto decoded = PercentDecode(request.path)) {
    Require(PercentDecode(PercentEncode(*decoded)) == decoded, "a path can be encoded again");
  }
  (void)ParseQuery(request.query);
  (void)TakesGzip(request.Field("accept-encoding"));
  (void)HasTag(request.Field("if-none-match"), "\"tag\"");
}

void Try(std::string_view text, size_t piece) {
  const Read whole = ReadIn(text, text.size() + 1);
  const Read cut = ReadIn(text, piece);
  Require(whole.refusal.has_value() == cut.refusal.has_value(),
          "whether a request is served does not depend on its pieces");
  for (const Read* read : {&whole, &cut}) {
    if (!read->refusal) CheckAccepted(text, *read);
    if (!read->refusal) continue;
    Require(read->refusal->status >= 400 && read->refusal->status < 600, "a refusal is an error");
    Require(!read->refusal->body.empty(), "a refusal says why");
  }
  if (whole.request && !whole.refusal) CheckPolicy(*whole.request);
}

}  // namespace
}  // namespace beryl::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return beryl::fuzz::TryInPieces(bytes, size, &beryl::server::Try);
}
