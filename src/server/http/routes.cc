#include "server/http/routes.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

// The parts of the path that the pattern leaves open; nothing if it is another path.
std::optional<std::vector<std::string>> Match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> open;
  while (true) {
    const std::string_view want = pattern.substr(0, pattern.find('/'));
    const bool takes_rest = want.ends_with("...}");
    const std::string_view have = takes_rest ? path : path.substr(0, path.find('/'));
    if (want.starts_with('{')) {
      auto decoded = PercentDecode(have);
      if (!decoded || decoded->empty()) return std::nullopt;
      open.push_back(std::move(*decoded));
    } else if (want != have) {
      return std::nullopt;
    }
    const bool is_last = want.size() == pattern.size();
    if (is_last || have.size() == path.size()) {
      if (is_last && have.size() == path.size()) return open;
      return std::nullopt;
    }
    pattern.remove_prefix(want.size() + 1);
    path.remove_prefix(have.size() + 1);
  }
}

}  // namespace

void HttpRoutes::Add(std::string method, std::string path, HttpHandler handler) {
  Add({std::move(method), std::move(path), std::move(handler)});
}

HttpAnswer HttpRoutes::Refuse(const HttpRequest& request, HttpAnswer answer) const {
  return refuse_ ? refuse_(request, std::move(answer)) : answer;
}

std::variant<const HttpRoute*, HttpAnswer> HttpRoutes::Find(HttpRequest& request) const {
  const std::string_view method =
      request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  std::string allow;
  for (const HttpRoute& route : routes_) {
    auto parts = Match(route.path, request.path);
    if (!parts) continue;
    if (route.method == method) {
      request.parts = std::move(*parts);
      return &route;
    }
    if (allow.find(route.method) != std::string::npos) continue;
    allow += (allow.empty() ? "" : ", ") + route.method;
    if (route.method == "GET") allow += ", HEAD";
  }
  HttpAnswer wrong;
  wrong.status = 404;
  wrong.body = "there is no such page\n";
  if (!allow.empty()) {
    wrong.status = 405;
    wrong.body = fmt::format("this page has only {}\n", allow);
    wrong.fields.push_back({"allow", allow});
  }
  return Refuse(request, std::move(wrong));
}

HttpAnswer AnswerOf(const HttpRoute& route, const HttpRequest& request) {
  try {
    return route.answer(request);
  } catch (const std::exception&) {
    HttpAnswer failed;
    failed.status = 500;
    failed.body = "the answer could not be made\n";
    return failed;
  }
}

}  // namespace beryl::server
