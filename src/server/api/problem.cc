#include "server/api/problem.h"

#include "base/json_writer.h"
#include "base/text.h"

namespace beryl::server {
namespace {

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kMisuse:
      return 400;
    case ErrorCode::kInvalid:
      return 422;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kForbidden:
      return 403;
    case ErrorCode::kTooMuch:
      return 507;
    case ErrorCode::kNotNow:
      return 409;
    case ErrorCode::kIo:
      return 500;
  }
  return 500;
}

}  // namespace

HttpAnswer ProblemAnswer(int status, std::string_view detail, std::string_view instance,
                         const std::vector<ProblemPart>& parts) {
  JsonWriter json;
  json.BeginObject().Member("type", "about:blank").Member("title", ReasonOf(status));
  json.Member("status", status).Member("detail", Printable(detail));
  json.Member("instance", Printable(instance));
  if (!parts.empty()) {
    json.Objects("errors", parts, [&](const ProblemPart& part) {
      if (part.pointer.empty()) {
        json.Member("parameter", Printable(part.parameter));
      } else {
        json.Member("pointer", Printable(part.pointer));
      }
      json.Member("detail", Printable(part.detail));
    });
  }
  json.End();
  HttpAnswer answer;
  answer.status = status;
  answer.type = "application/problem+json";
  answer.body = json.Take() + "\n";
  return answer;
}

HttpAnswer ProblemAnswer(const Error& error, std::string_view instance) {
  std::vector<ProblemPart> parts;
  for (const std::string_view option : error.options) {
    parts.push_back({std::string(option), {}, error.message});
  }
  return ProblemAnswer(StatusOf(error.code), error.message, instance, parts);
}

}  // namespace beryl::server
