// Answers that say what is wrong, as RFC 9457 has them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/http/message.h"

namespace beryl::server {

// What of a request is wrong: a parameter of its query, or a part of its body.
struct ProblemPart {
  std::string parameter;  // or:
  std::string pointer;    // a JSON pointer; empty: the parameter says it
  std::string detail;
};

HttpAnswer ProblemAnswer(int status, std::string_view detail, std::string_view instance,
                         const std::vector<ProblemPart>& parts = {});
// The status follows from the code. The error's options are parameters of the request.
HttpAnswer ProblemAnswer(const Error& error, std::string_view instance);

}  // namespace beryl::server
