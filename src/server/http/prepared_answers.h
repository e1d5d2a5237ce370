// Answers from memory, ready to be sent to whoever sends the very bytes of an earlier request: such
// a request is not parsed, judged and looked for again.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/http/finished_answer.h"
#include "server/http/message.h"

namespace beryl::server {

struct PreparedAnswer {
  HttpRequest request;                     // the first one
  std::weak_ptr<FinishedAnswer> finished;  // only an AnswerCache keeps it
  SendOptions how;
  std::vector<HttpField> fields;  // that this request's answer has
  std::string date;
  SentAnswer sent;  // of `finished`
};
struct ReadyAnswer {
  std::shared_ptr<const PreparedAnswer> prepared;  // null: there is none
  std::shared_ptr<const FinishedAnswer> finished;
};

// Not thread-safe.
class PreparedAnswers {
 public:
  // The answer to a request with this head and no body, if there is one that is still kept.
  ReadyAnswer Find(std::string_view head, const std::string& date);
  void Keep(std::string_view head, PreparedAnswer answer);
  void Clear() { by_head_.clear(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
  };
  std::unordered_map<std::string, std::shared_ptr<const PreparedAnswer>, Hash, std::equal_to<>>
      by_head_;
};

}  // namespace beryl::server
