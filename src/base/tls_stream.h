// The client's side of TLS, by OpenSSL, which is loaded when it is first needed: nobody else waits
// for it at the start of the program, or has to install it. The calls in use are declared in
// tls_stream.cc, so that building needs nothing of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace beryl {

// Over a socket that does not block. Not thread-safe.
class TlsStream {
 public:
  // The server has to show a certificate for `host` by an authority that this machine trusts, or
  // one in $SSL_CERT_FILE. The socket must be connected, and outlive the stream. Fails if OpenSSL
  // cannot be loaded; nothing is sent yet.
  static Result<TlsStream> Over(int socket, const std::string& host);
  TlsStream(TlsStream&&) noexcept;
  TlsStream& operator=(TlsStream&&) noexcept;
  ~TlsStream();

  // What a call came to. kRead, kWrite: wait until the socket can be read or written, and call
  // again with the same bytes.
  enum class Outcome { kDone, kRead, kWrite, kEnd, kFailed };
  Outcome Greet();
  Outcome Read(char* buffer, size_t size, size_t& got);
  Outcome Write(const char* bytes, size_t size, size_t& sent);
  // After kFailed: why.
  std::string problem() const;

 private:
  struct State;
  explicit TlsStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace beryl
