// An answer as it is sent, and a store of those that may be sent again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "server/http/message.h"

namespace beryl::server {

// Immutable but for its two forms, plain and packed: each is there once a client took it.
struct FinishedAnswer {
  HttpAnswer answer;  // its body is the plain form
  std::string head;   // status line and fields; no length, connection and date, and no empty line
  std::string tag;    // "\"...\"", of content and version; empty: none
  std::string route = {};  // that made it, for figures and logs
  std::shared_ptr<const std::string> gzip = {};
  // A tag is of the very bytes.
  std::string TagOf(bool is_gzip) const;
  bool packs = false;    // whether compression pays
  bool is_kept = false;  // by an AnswerCache
  bool is_only_packed() const { return gzip && answer.body.empty(); }
  size_t bytes() const { return answer.body.size() + (gzip ? gzip->size() : 0) + head.size(); }
};

FinishedAnswer Finish(HttpAnswer answer);
// Its body as gzip.
std::shared_ptr<const std::string> Packed(const FinishedAnswer& finished);
// Instead of its plain form, the packed one.
void Pack(FinishedAnswer& finished);
// The body of one that is only packed.
std::string Unpacked(const FinishedAnswer& finished);

// What a client is sent of it.
struct SentAnswer {
  std::string head;  // with its empty line
  std::string_view body;
};
struct SendOptions {
  bool gzip = false;  // precondition: the answer has it
  bool not_modified = false;
  bool head_only = false;
  bool keeps_alive = true;
  bool is_old = false;  // the client speaks HTTP/1.0
  std::string_view date = {};
};
SentAnswer Compose(const FinishedAnswer& finished, const SendOptions& options,
                   const std::vector<HttpField>& further);

// The answers that were asked for last. Not thread-safe.
class AnswerCache {
 public:
  explicit AnswerCache(size_t most_bytes) : most_bytes_(most_bytes) {}
  std::shared_ptr<FinishedAnswer> Find(const std::string& key);
  void Keep(const std::string& key, std::shared_ptr<FinishedAnswer> answer);
  // Gives the answer the form that it lacks, once.
  void Complete(FinishedAnswer& answer, std::shared_ptr<const std::string> gzip);
  void Complete(FinishedAnswer& answer, std::string body);
  size_t bytes() const { return bytes_; }
  size_t size() const { return entries_.size(); }

 private:
  using Entry = std::pair<std::string, std::shared_ptr<FinishedAnswer>>;
  static size_t BytesOf(const Entry& entry);
  void Grow(const FinishedAnswer& answer, size_t bytes);
  void Shrink();

  size_t most_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the last used one first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;
};

}  // namespace beryl::server
