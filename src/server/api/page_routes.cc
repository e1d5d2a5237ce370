// The page: a client of this API, made of web/ and built into the program.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "server/api/api.h"
#include "server/embedded.h"

namespace beryl::server {
namespace {

// Names of the user's program go into the page only as text, and even so it could run nothing that
// is not its own. Styles are set by its script, which needs no exception.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Asset {
  std::string_view name;
  std::string_view type;
  const std::string_view* text;
};
constexpr Asset kAssets[] = {
    {"page.js", "text/javascript; charset=utf-8", &embedded::kPageScript},
    {"page.css", "text/css; charset=utf-8", &embedded::kPageStyle},
};

HttpAnswer AnswerWith(std::string_view text, std::string_view type, HttpReuse reuse) {
  HttpAnswer answer;
  answer.type = type;
  answer.body = text;
  answer.reuse = reuse;
  return answer;
}

// What follows `?` is for the page itself.
HttpAnswer ShowPage(const HttpRequest& /*request*/) {
  HttpAnswer answer = AnswerWith(embedded::kPage, "text/html; charset=utf-8", HttpReuse::kCheck);
  answer.fields.push_back({"content-security-policy", std::string(kPolicy)});
  answer.fields.push_back({"referrer-policy", "no-referrer"});
  return answer;
}

Result<HttpAnswer> ShowAsset(Parameters& parameters, const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  // The page says with which hash: an older or newer address is of other content.
  const std::string address = fmt::format("\"assets/{}/{}\"", request.parts[0], request.parts[1]);
  if (embedded::kPage.find(address) != std::string_view::npos) {
    for (const Asset& asset : kAssets) {
      if (asset.name == request.parts[1]) {
        return AnswerWith(*asset.text, asset.type, HttpReuse::kForever);
      }
    }
  }
  return Error{ErrorCode::kNotFound, "the page of this server names no such file; load it again"};
}

}  // namespace

void AddPageRoutes(HttpRoutes& routes) {
  routes.Add("GET", "/", &ShowPage);
  routes.Add("GET", "/assets/{hash}/{name}", Handle(&ShowAsset));
}

}  // namespace beryl::server
