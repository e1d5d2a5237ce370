// Takes the bytes of one request, in pieces of any size, and refuses those that two programs could
// read in two ways. Reads no socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/limits.h"
#include "server/http/message.h"

namespace beryl::server {

class RequestReader {
 public:
  explicit RequestReader(const HttpLimits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Takes from the front of `bytes` and returns how many it took. What it leaves has to come again,
  // with more behind it. Adds what is of the body to `body`. Stops after the head, so that it can
  // be judged before the body comes.
  size_t Take(std::string_view bytes, std::string& body);
  bool has_head() const;
  bool is_done() const;
  // Why the request cannot be served; the connection ends with it.
  const std::optional<HttpAnswer>& refusal() const { return refusal_; }
  // No more bytes come.
  void End();
  // Refuses it, unless it is refused already.
  void Refuse(int status, std::string_view why);

  // Once there is a head:
  HttpRequest TakeRequest();  // without a body
  bool is_current() const;    // HTTP/1.1 and not 1.0
  bool keeps_alive() const;
  bool wants_continue() const;
  std::optional<uint64_t> body_size() const;  // nothing: it comes in chunks
  void LimitBody(uint64_t bytes);

 private:
  struct Parsing;
  void CheckHead();
  void RefuseLongHead();
  void CheckOverhead(size_t taken, size_t of_body);

  const HttpLimits& limits_;
  std::unique_ptr<Parsing> parsing_;
  std::optional<HttpAnswer> refusal_;
  uint64_t most_;
  uint64_t head_bytes_ = 0;
  uint64_t body_bytes_ = 0;
  uint64_t overhead_ = 0;  // bytes that are not of the body, since the last byte that was
};

}  // namespace beryl::server
