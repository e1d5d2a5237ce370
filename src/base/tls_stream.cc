#include "base/tls_stream.h"

#include <arpa/inet.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/shared_library.h"

namespace beryl {
namespace {

// Of openssl/ssl.h and openssl/x509.h, version 3.
constexpr int kVerifyPeer = 1;
constexpr int kSetMode = 33;
constexpr long kPartialAndMovingWrites = 1 | 2;  // NOLINT(google-runtime-int): as SSL_ctrl has it
constexpr int kSetMinimumVersion = 123;
constexpr long kTls12 = 0x0303;  // NOLINT(google-runtime-int)
constexpr int kSetHostName = 55;
constexpr int kWantsRead = 2;
constexpr int kWantsWrite = 3;
constexpr int kZeroReturn = 6;

struct Calls {
  const void* (*method)();
  void* (*new_context)(const void*);
  void (*free_context)(void*);
  int (*use_default_authorities)(void*);
  void (*set_verify)(void*, int, void*);
  long (*context_control)(void*, int, long, void*);  // NOLINT(google-runtime-int)
  void* (*new_stream)(void*);
  void (*free_stream)(void*);
  int (*set_socket)(void*, int);
  int (*set_host)(void*, const char*);
  void* (*parameters)(void*);
  long (*control)(void*, int, long, void*);  // NOLINT(google-runtime-int)
  int (*connect)(void*);
  int (*read)(void*, void*, size_t, size_t*);
  int (*write)(void*, const void*, size_t, size_t*);
  int (*error)(const void*, int);
  long (*verify_result)(const void*);  // NOLINT(google-runtime-int)
  // Of libcrypto, which libssl brings.
  const char* (*verify_text)(long);  // NOLINT(google-runtime-int)
  int (*set_address)(void*, const char*);
  unsigned long (*next_error)();                     // NOLINT(google-runtime-int)
  void (*error_text)(unsigned long, char*, size_t);  // NOLINT(google-runtime-int)
};

Result<Calls> LoadCalls() {
  SharedLibrary library = TRY(SharedLibrary::Load(
      "libssl.so.3", "https needs OpenSSL", "libssl3 (Debian, Ubuntu) or openssl-libs (Fedora)"));
  Calls calls{};
  library.Find("TLS_client_method", calls.method);
  library.Find("SSL_CTX_new", calls.new_context);
  library.Find("SSL_CTX_free", calls.free_context);
  library.Find("SSL_CTX_set_default_verify_paths", calls.use_default_authorities);
  library.Find("SSL_CTX_set_verify", calls.set_verify);
  library.Find("SSL_CTX_ctrl", calls.context_control);
  library.Find("SSL_new", calls.new_stream);
  library.Find("SSL_free", calls.free_stream);
  library.Find("SSL_set_fd", calls.set_socket);
  library.Find("SSL_set1_host", calls.set_host);
  library.Find("SSL_get0_param", calls.parameters);
  library.Find("SSL_ctrl", calls.control);
  library.Find("SSL_connect", calls.connect);
  library.Find("SSL_read_ex", calls.read);
  library.Find("SSL_write_ex", calls.write);
  library.Find("SSL_get_error", calls.error);
  library.Find("SSL_get_verify_result", calls.verify_result);
  library.Find("X509_verify_cert_error_string", calls.verify_text);
  library.Find("X509_VERIFY_PARAM_set1_ip_asc", calls.set_address);
  library.Find("ERR_get_error", calls.next_error);
  library.Find("ERR_error_string_n", calls.error_text);
  TRY(library.HasAll());
  return calls;
}

// Once per process; it stays.
const Result<Calls>& LoadedCalls() {
  static const Result<Calls> kCalls = LoadCalls();
  return kCalls;
}

bool IsAddress(const std::string& host) {
  std::array<unsigned char, 16> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

}  // namespace

struct TlsStream::State {
  explicit State(const Calls& loaded) : calls(loaded) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (stream != nullptr) calls.free_stream(stream);
    if (context != nullptr) calls.free_context(context);
  }

  Outcome After(int returned) {
    if (returned == 1) return Outcome::kDone;
    switch (calls.error(stream, returned)) {
      case kWantsRead:
        return Outcome::kRead;
      case kWantsWrite:
        return Outcome::kWrite;
      case kZeroReturn:
        return Outcome::kEnd;
      default:
        return Outcome::kFailed;
    }
  }

  const Calls& calls;
  void* context = nullptr;
  void* stream = nullptr;
};

TlsStream::TlsStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsStream::TlsStream(TlsStream&&) noexcept = default;
TlsStream& TlsStream::operator=(TlsStream&&) noexcept = default;
TlsStream::~TlsStream() = default;

Result<TlsStream> TlsStream::Over(int socket, const std::string& host) {
  const Result<Calls>& loaded = LoadedCalls();
  if (!loaded) return loaded.error();
  auto state = std::make_unique<State>(*loaded);
  const Calls& calls = state->calls;
  state->context = calls.new_context(calls.method());
  if (state->context == nullptr) return IoError("OpenSSL gives no context");
  calls.context_control(state->context, kSetMode, kPartialAndMovingWrites, nullptr);
  calls.context_control(state->context, kSetMinimumVersion, kTls12, nullptr);
  calls.set_verify(state->context, kVerifyPeer, nullptr);
  state->stream = calls.use_default_authorities(state->context) == 1
                      ? calls.new_stream(state->context)
                      : nullptr;
  if (state->stream == nullptr) return IoError("OpenSSL finds no authorities of certificates");
  std::string name = host;
  // A certificate names addresses in a place of their own, and no address is sent as a name.
  const bool named = IsAddress(host)
                         ? calls.set_address(calls.parameters(state->stream), host.c_str()) == 1
                         : calls.set_host(state->stream, host.c_str()) == 1 &&
                               calls.control(state->stream, kSetHostName, 0, name.data()) == 1;
  if (!named || calls.set_socket(state->stream, socket) != 1) {
    return IoError(fmt::format("OpenSSL does not take '{}' as a host", host));
  }
  return TlsStream(std::move(state));
}

TlsStream::Outcome TlsStream::Greet() {
  return state_->After(state_->calls.connect(state_->stream));
}

TlsStream::Outcome TlsStream::Read(char* buffer, size_t size, size_t& got) {
  return state_->After(state_->calls.read(state_->stream, buffer, size, &got));
}

TlsStream::Outcome TlsStream::Write(const char* bytes, size_t size, size_t& sent) {
  return state_->After(state_->calls.write(state_->stream, bytes, size, &sent));
}

std::string TlsStream::problem() const {
  const long verified = state_->calls.verify_result(state_->stream);  // NOLINT(google-runtime-int)
  if (verified != 0) {
    return fmt::format(
        "its certificate is not trusted: {}; if it is one of your own, name it in the environment "
        "variable SSL_CERT_FILE",
        state_->calls.verify_text(verified));
  }
  std::array<char, 256> text{};
  const unsigned long code = state_->calls.next_error();  // NOLINT(google-runtime-int)
  if (code == 0) return "the connection ended";
  state_->calls.error_text(code, text.data(), text.size());
  return text.data();
}

}  // namespace beryl
