#include "server/http/prepared_answers.h"

#include <utility>

namespace beryl::server {
namespace {

constexpr size_t kMost = 1024;
constexpr size_t kLongestHead = 2048;

std::shared_ptr<const PreparedAnswer> Made(const FinishedAnswer& finished, PreparedAnswer answer) {
  answer.how.date = answer.date;
  answer.sent = Compose(finished, answer.how, answer.fields);
  answer.how.date = {};
  return std::make_shared<const PreparedAnswer>(std::move(answer));
}

}  // namespace

ReadyAnswer PreparedAnswers::Find(std::string_view head, const std::string& date) {
  const auto found = by_head_.find(head);
  if (found == by_head_.end()) return {};
  const auto finished = found->second->finished.lock();
  if (!finished || !finished->is_kept) {
    by_head_.erase(found);
    return {};
  }
  if (found->second->date != date) {
    PreparedAnswer later = *found->second;
    later.date = date;
    found->second = Made(*finished, std::move(later));
  }
  return {found->second, finished};
}

void PreparedAnswers::Keep(std::string_view head, PreparedAnswer answer) {
  if (head.size() > kLongestHead) return;
  // Those that are asked for again are soon here again.
  if (by_head_.size() >= kMost) by_head_.clear();
  const auto finished = answer.finished.lock();
  if (!finished) return;
  by_head_.insert_or_assign(std::string(head), Made(*finished, std::move(answer)));
}

}  // namespace beryl::server
