#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "server/http/request_reader.h"
#include "server/http/server.h"

namespace beryl::server {

HttpAnswer AnswerTo(std::string_view bytes, const HttpOptions& options) {
  RequestReader reader(options.limits);
  std::string body;
  while (!reader.is_done() && !reader.refusal()) {
    const bool had_head = reader.has_head();
    const size_t taken = reader.Take(bytes, body);
    bytes.remove_prefix(taken);
    if (taken == 0 && had_head == reader.has_head()) reader.End();
  }
  HttpRequest request;
  if (reader.has_head()) request = reader.TakeRequest();
  if (reader.refusal()) return options.routes.Refuse(request, *reader.refusal());
  if (options.judge) {
    HttpVerdict verdict = options.judge(request);
    if (verdict.refusal) return std::move(*verdict.refusal);
  }
  auto found = options.routes.Find(request);
  if (auto* refusal = std::get_if<HttpAnswer>(&found)) return std::move(*refusal);
  const HttpRoute& route = *std::get<const HttpRoute*>(found);
  reader.LimitBody(route.most.value_or(options.limits.body_bytes));
  if (reader.refusal()) return options.routes.Refuse(request, *reader.refusal());
  if (!route.upload) {
    request.body = std::move(body);
    return AnswerOf(route, request);
  }
  auto begun = route.upload(request);
  if (auto* refusal = std::get_if<HttpAnswer>(&begun)) return std::move(*refusal);
  HttpUpload& upload = *std::get<std::unique_ptr<HttpUpload>>(begun);
  if (auto refused = upload.Take(body)) return std::move(*refused);
  return upload.Finish();
}

}  // namespace beryl::server
