// Requests as the library keeps them: what an entry was asked for with, and what a job is to do.
#pragma once

#include <string>

#include "base/result.h"
#include "server/http/message.h"

namespace beryl::server {

// {"id": "...", "parameters": {"batch": ["8"]}, "config": {...}}: the part of the path, if it has
// one; the query; the body, if there is one, which must be JSON.
std::string WriteKeptRequest(const HttpRequest& request);
// The same request again, as far as parameters and body go. kInvalid, if it is none.
Result<HttpRequest> ReadKeptRequest(std::string text);

}  // namespace beryl::server
