#include "server/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::server {
namespace {

HttpRequest Request(std::string method, std::string path, std::vector<HttpField> fields) {
  HttpRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.fields = std::move(fields);
  return request;
}

int StatusOf(const SitePolicy& policy, const HttpRequest& request) {
  const HttpVerdict verdict = Judge(policy, request);
  return verdict.refusal ? verdict.refusal->status : 0;
}

SitePolicy Local() {
  SitePolicy policy;
  policy.hosts = {"localhost", "127.0.0.1", "[::1]"};
  return policy;
}

TEST(Site, AnswersOnlyUnderItsNames) {
  for (const char* host : {"localhost", "LOCALHOST:8420", "127.0.0.1:1", "[::1]:8420", "[::1]"}) {
    EXPECT_EQ(StatusOf(Local(), Request("GET", "/", {{"host", host}})), 0) << host;
  }
  for (const char* host : {"evil.example", "evil.example:8420", "127.0.0.1.evil.example", "[::2]",
                           "localhost.evil.example:80"}) {
    EXPECT_EQ(StatusOf(Local(), Request("GET", "/", {{"host", host}})), 421) << host;
  }
  EXPECT_EQ(StatusOf(Local(), Request("GET", "/", {})), 400);
}

TEST(Site, PagesFromElsewhereChangeNothing) {
  const HttpField host = {"host", "localhost:8420"};
  const auto status = [&](std::vector<HttpField> fields) {
    fields.push_back(host);
    return StatusOf(Local(), Request("DELETE", "/api/v1/runs/x", std::move(fields)));
  };
  EXPECT_EQ(status({}), 0);  // no browser
  EXPECT_EQ(status({{"origin", "http://localhost:8420"}}), 0);
  EXPECT_EQ(status({{"sec-fetch-site", "same-origin"}}), 0);
  EXPECT_EQ(status({{"origin", "http://evil.example"}}), 403);
  EXPECT_EQ(status({{"origin", "null"}}), 403);
  EXPECT_EQ(status({{"origin", "http://localhost:9999"}}), 403);
  EXPECT_EQ(status({{"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"sec-fetch-site", "same-site"}}), 403);
}

TEST(Site, OriginsThatAreAllowedAreSaidSo) {
  SitePolicy policy = Local();
  policy.allowed_origins = {"https://example.org"};
  const std::vector<HttpField> fields = {{"host", "localhost"}, {"origin", "https://example.org"}};
  const HttpVerdict verdict = Judge(policy, Request("POST", "/api/v1/runs", fields));
  EXPECT_FALSE(verdict.refusal);
  ASSERT_EQ(verdict.fields.size(), 2u);
  EXPECT_EQ(verdict.fields[1].value, "https://example.org");
  EXPECT_EQ(StatusOf(policy, Request("OPTIONS", "/api/v1/runs", fields)), 204);
  EXPECT_TRUE(Judge(Local(),
                    Request("GET", "/", {{"host", "localhost"}, {"origin", "https://example.org"}}))
                  .fields.empty());
}

TEST(Site, ATokenIsWantedEverywhere) {
  SitePolicy policy = Local();
  policy.token = "secret word";
  const HttpField host = {"host", "localhost"};
  EXPECT_EQ(StatusOf(policy, Request("GET", "/healthz", {host})), 0);
  // The page asks for the token.
  EXPECT_EQ(StatusOf(policy, Request("GET", "/", {host})), 0);
  EXPECT_EQ(StatusOf(policy, Request("GET", "/assets/0123456789abcdef/page.js", {host})), 0);
  EXPECT_EQ(StatusOf(policy, Request("GET", "/metrics", {host})), 401);
  EXPECT_EQ(StatusOf(policy, Request("GET", "/x", {host, {"authorization", "Bearer secret word"}})),
            0);
  EXPECT_EQ(StatusOf(policy, Request("GET", "/x", {host, {"authorization", "Bearer secret"}})),
            401);
  const std::string cookie = LoginCookie(policy.token, false);
  EXPECT_EQ(
      StatusOf(policy, Request("GET", "/x",
                               {host, {"cookie", "a=b; " + cookie.substr(0, cookie.find(';'))}})),
      0);
  EXPECT_EQ(StatusOf(policy, Request("GET", "/x", {host, {"cookie", "beryl_token=wrong"}})), 401);
}

TEST(Site, ReadOnlyMeansThatNothingChanges) {
  SitePolicy policy = Local();
  policy.read_only = true;
  const HttpField host = {"host", "localhost"};
  EXPECT_EQ(StatusOf(policy, Request("POST", "/api/v1/runs", {host})), 403);
  EXPECT_EQ(StatusOf(policy, Request("DELETE", "/api/v1/runs/1", {host})), 403);
  EXPECT_EQ(StatusOf(policy, Request("POST", "/api/v1/predict", {host})), 0);
  EXPECT_EQ(StatusOf(policy, Request("GET", "/api/v1/runs", {host})), 0);
}

}  // namespace
}  // namespace beryl::server
