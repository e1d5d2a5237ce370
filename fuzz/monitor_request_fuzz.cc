// What the monitor reads of text that others wrote: addresses, tokens, requests for metrics, and
// the kernel's tables of connections and processes.
#include <cstdint>
#include <string>
#include <string_view>

#include "require.h"
#include "server/address.h"
#include "server/caller.h"
#include "server/http/client.h"
#include "server/http/server.h"

namespace beryl::server {
namespace {

using fuzz::Require;

void Try(std::string_view text) {
  if (const auto address = ParseAddress(text)) {
    // What was understood is understood again, and the same.
    const auto again = ParseAddress(address->text());
    Require(again && again->text() == address->text(), "an address says itself");
    Require(again->is_local() == address->is_local(), "and is as local as it was");
  }
  (void)ParseTarget(text);
  HttpOptions options;
  HttpRoutes& routes = options.routes;
  routes.Add("GET", "/metrics", [](const HttpRequest& request) {
    Require(request.path == "/metrics", "a page answers for itself");
    return HttpAnswer{};
  });
  HttpLimits& limits = options.limits;
  limits.head_bytes = 256;
  limits.body_bytes = 16;
  routes.Add("POST", "/metrics", [&](const HttpRequest& request) {
    Require(request.body.size() <= limits.body_bytes, "no body exceeds the limit");
    return HttpAnswer{};
  });
  const HttpAnswer answer = AnswerTo(text, options);
  Require(answer.status == 200 || !answer.body.empty(), "a refusal says why");

  TcpEnd client;
  client.address[0] = 127;
  client.address[3] = 1;
  client.port = 40000;
  TcpEnd server = client;
  server.port = 50051;
  (void)OwnerOfConnection(text, client, server);
  (void)OwnerOfProcess(text);
  Require(!CarriesToken(text, ""), "no token lets nobody in");
  const std::string header = "Bearer " + std::string(text);
  Require(text.empty() || CarriesToken(header, text), "the token lets in");
  Require(!CarriesToken(header + "x", text), "nothing but the token does");
}

}  // namespace
}  // namespace beryl::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  beryl::server::Try({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
