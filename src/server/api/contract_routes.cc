// The contract itself: the OpenAPI document and the JSON Schemas that it names.
#include <string>

#include "server/api/api.h"
#include "server/embedded.h"

namespace beryl::server {
namespace {

struct Schema {
  std::string_view name;
  const std::string_view* text;
};
#define BERYL_SCHEMA(name, text) {name, &embedded::text},
const Schema kSchemas[] = {
#include "server/schemas.inc"
};
#undef BERYL_SCHEMA

HttpAnswer TextOf(std::string_view text, std::string_view type) {
  HttpAnswer answer;
  answer.type = type;
  answer.body = text;
  answer.reuse = HttpReuse::kKeep;
  return answer;
}

Result<HttpAnswer> ShowSchema(Parameters& parameters, const HttpRequest& request) {
  TRY(CheckParameters(parameters));
  for (const Schema& schema : kSchemas) {
    if (schema.name == request.parts.front()) {
      return TextOf(*schema.text, "application/schema+json");
    }
  }
  return Error{ErrorCode::kNotFound, "there is no such schema"};
}

Result<HttpAnswer> ShowOpenApi(Parameters& parameters, const HttpRequest& /*request*/) {
  TRY(CheckParameters(parameters));
  return TextOf(embedded::kOpenApi, "application/yaml");
}

}  // namespace

void AddContractRoutes(HttpRoutes& routes) {
  routes.Add("GET", "/api/v1/openapi.yaml", Handle(&ShowOpenApi));
  routes.Add("GET", "/api/v1/schemas/{name}", Handle(&ShowSchema));
}

}  // namespace beryl::server
