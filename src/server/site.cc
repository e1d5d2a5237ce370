#include "server/site.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "server/api/problem.h"
#include "server/caller.h"

namespace beryl::server {
namespace {

constexpr std::string_view kCookie = "beryl_token";

bool Contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// "[::1]:8000" is "[::1]".
std::string NameOfHost(std::string_view host) {
  const size_t bracket = host.find(']');
  const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return LowerCase(host.substr(0, colon));
}

bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

bool HasToken(const SitePolicy& policy, const HttpRequest& request) {
  if (CarriesToken(request.Field("authorization"), policy.token)) return true;
  for (const std::string_view item : Split(request.Field("cookie"), ';')) {
    const std::string_view cookie = Trim(item);
    const size_t equals = cookie.find('=');
    if (cookie.substr(0, equals) != kCookie || equals == std::string_view::npos) continue;
    const auto value = PercentDecode(cookie.substr(equals + 1));
    if (value && CarriesToken("Bearer " + *value, policy.token)) return true;
  }
  return false;
}

// A request that changes something comes from a page of this server, from no page at all, or from
// one that was allowed.
bool IsFromElsewhere(const SitePolicy& policy, const HttpRequest& request) {
  const std::string_view origin = request.Field("origin");
  if (!origin.empty() && Contains(policy.allowed_origins, origin)) return false;
  const std::string_view site = request.Field("sec-fetch-site");
  if (!site.empty()) return site != "same-origin" && site != "none";
  if (origin.empty()) return false;
  const std::string here =
      fmt::format("http{}://{}", request.is_encrypted ? "s" : "", request.Field("host"));
  return LowerCase(origin) != LowerCase(here);
}

HttpAnswer Refusal(int status, std::string_view why, const HttpRequest& request) {
  return ProblemAnswer(status, why, request.path);
}

HttpAnswer Preflight(std::string_view origin) {
  HttpAnswer answer;
  answer.status = 204;
  answer.fields = {{"access-control-allow-origin", std::string(origin)},
                   {"access-control-allow-methods", "GET, HEAD, POST, PATCH, DELETE"},
                   {"access-control-allow-headers", "authorization, content-type, last-event-id"},
                   {"access-control-max-age", "600"}};
  return answer;
}

}  // namespace

bool IsOpen(std::string_view path) {
  return path == "/healthz" || path == "/api/v1/login" || path == "/" ||
         path.starts_with("/assets/");
}

bool OnlyAsks(std::string_view path) {
  static constexpr std::array<std::string_view, 5> kPaths = {
      "/api/v1/describe", "/api/v1/predict", "/api/v1/sweep", "/api/v1/compare", "/api/v1/login"};
  return std::find(kPaths.begin(), kPaths.end(), path) != kPaths.end();
}

HttpVerdict Judge(const SitePolicy& policy, const HttpRequest& request) {
  HttpVerdict verdict;
  const std::string_view host = request.Field("host");
  if (host.empty()) {
    verdict.refusal = Refusal(400, "the request does not say which host it is for", request);
    return verdict;
  }
  if (!Contains(policy.hosts, NameOfHost(host))) {
    verdict.refusal = Refusal(
        421,
        "this server does not answer for that host; whoever runs it can name it as one of its "
        "hosts",
        request);
    return verdict;
  }
  const std::string_view origin = request.Field("origin");
  const bool is_allowed = !origin.empty() && Contains(policy.allowed_origins, origin);
  if (!policy.allowed_origins.empty()) verdict.fields.push_back({"vary", "origin"});
  if (is_allowed && request.method == "OPTIONS") {
    verdict.refusal = Preflight(origin);
    return verdict;
  }
  if (is_allowed) verdict.fields.push_back({"access-control-allow-origin", std::string(origin)});
  if (!IsSafe(request.method) && IsFromElsewhere(policy, request)) {
    verdict.refusal = Refusal(403, "a page from elsewhere may not change anything here", request);
    return verdict;
  }
  if (!policy.token.empty() && !IsOpen(request.path) && !HasToken(policy, request)) {
    verdict.refusal = Refusal(401, "this server wants a token", request);
    verdict.refusal->fields.push_back({"www-authenticate", "Bearer realm=\"beryl\""});
    return verdict;
  }
  if (policy.read_only && !IsSafe(request.method) && !OnlyAsks(request.path)) {
    verdict.refusal = Refusal(403, "this server only shows; it changes nothing", request);
  }
  return verdict;
}

std::string LoginCookie(const std::string& token, bool is_encrypted) {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{}", kCookie,
                     PercentEncode(token), is_encrypted ? "; Secure" : "");
}

}  // namespace beryl::server
