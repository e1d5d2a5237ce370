#include "server/api/kept_request.h"

#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfBody = size_t{1} << 24;

// "a=b&a=c"
void AddParameter(json::Key name, json::Value values, std::string& query, bool& is_good) {
  const std::string key(name.Text());
  // No parameter has such a name.
  is_good = is_good && key.find('\\') == std::string::npos && Printable(key) == key;
  const bool is_list = values.IsArray() && values.ForEachElement([&](json::Value value) {
    const auto text = value.String();
    is_good = is_good && text;
    if (!text) return;
    query +=
        fmt::format("{}{}={}", query.empty() ? "" : "&", PercentEncode(key), PercentEncode(*text));
  });
  is_good = is_good && is_list;
}

}  // namespace

std::string WriteKeptRequest(const HttpRequest& request) {
  JsonWriter json;
  json.BeginObject();
  if (!request.parts.empty()) json.Member("id", Printable(request.parts.front()));
  json.Key("parameters").BeginObject();
  std::map<std::string, std::vector<std::string>> values;
  if (const auto given = ParseQuery(request.query)) {
    for (const HttpField& field : *given) {
      values[Printable(field.name)].push_back(Printable(field.value));
    }
  }
  for (const auto& [name, list] : values) json.Member(name, list);
  json.End();
  if (!request.body.empty()) json.Key("config").Json(Trim(request.body));
  json.End();
  return json.Take();
}

Result<HttpRequest> ReadKeptRequest(std::string text) {
  HttpRequest request;
  request.method = "POST";
  bool is_good = true;
  TRY(json::WalkObject(text, "the request of the job", [&](json::Key key, json::Value value) {
    if (key == "id") {
      const auto id = value.String();
      is_good = is_good && id;
      if (id) request.parts.emplace_back(*id);
    } else if (key == "parameters") {
      const bool is_object =
          value.IsObject() && value.ForEachMember([&](json::Key name, json::Value values) {
            AddParameter(name, values, request.query, is_good);
          });
      is_good = is_good && is_object;
    } else if (key == "config") {
      request.body = value.Raw(kMostOfBody);
    } else {
      is_good = false;
    }
  }));
  if (!is_good) return InvalidError("the request of the job is not one that this program knows");
  return request;
}

}  // namespace beryl::server
