#include "server/http/finished_answer.h"

#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/deflate.h"
#include "base/file.h"
#include "version.h"

namespace beryl::server {
namespace {

// Below this a packet holds it anyway.
constexpr size_t kLeastToCompress = 1024;

// A checksum of 128 bits: fast, and not meant to withstand somebody who looks for a collision, who
// would deceive only his own cache. Another version may say something else beside the same body.
std::string MakeTag(std::string_view body) {
  const auto mix = [](uint64_t& sum, uint64_t word) {
    sum = (sum ^ word) * 0xFF51AFD7ED558CCD;
    sum ^= sum >> 32;
  };
  // Side by side, so that none waits for the multiplication of another.
  std::array<uint64_t, 4> sums = {};
  for (const char letter : std::string_view(kVersion)) mix(sums[0], static_cast<uint8_t>(letter));
  std::array<uint64_t, sums.size()> words = {};
  const size_t size = body.size();
  for (; body.size() >= sizeof(words); body.remove_prefix(sizeof(words))) {
    std::memcpy(words.data(), body.data(), sizeof(words));
    for (size_t i = 0; i < sums.size(); ++i) mix(sums[i], words[i]);
  }
  words = {};
  if (!body.empty()) std::memcpy(words.data(), body.data(), body.size());
  for (size_t i = 0; i < sums.size(); ++i) mix(sums[i], words[i]);
  std::array<uint64_t, 2> all = {size, 0xC4CEB9FE1A85EC53};
  for (size_t i = 0; i < sums.size(); ++i) {
    mix(all[0], sums[i]);
    mix(all[1], sums[sums.size() - 1 - i]);
  }
  return fmt::format("\"{:016x}{:016x}\"", all[0], all[1]);
}

bool MayCompress(const HttpAnswer& answer) {
  return answer.body.size() >= kLeastToCompress && !answer.stream &&
         (answer.type.starts_with("text/") || answer.type.find("json") != std::string::npos ||
          answer.type.find("xml") != std::string::npos ||
          answer.type.find("yaml") != std::string::npos);
}

std::string_view CacheControlOf(HttpReuse reuse) {
  if (reuse == HttpReuse::kForever) return "public, max-age=31536000, immutable";
  return reuse == HttpReuse::kNever ? "no-store" : "no-cache";
}

}  // namespace

std::shared_ptr<const std::string> Packed(const FinishedAnswer& finished) {
  return std::make_shared<const std::string>(Gzip(finished.answer.body, Effort::kLittle));
}

void Pack(FinishedAnswer& finished) {
  finished.gzip = Packed(finished);
  finished.answer.body = std::string();
  finished.answer.body.shrink_to_fit();
}

std::string Unpacked(const FinishedAnswer& finished) {
  auto source = ByteSource::FromMemory(*finished.gzip, "");
  // It is this program's own, and was that large before.
  auto body = ReadAll(source, std::numeric_limits<size_t>::max());
  return body ? *std::move(body) : std::string();
}

FinishedAnswer Finish(HttpAnswer answer) {
  FinishedAnswer finished;
  answer.body.shrink_to_fit();  // it may be kept
  if (answer.status == 200 && answer.reuse != HttpReuse::kNever && !answer.stream) {
    finished.tag = MakeTag(answer.body);
  }
  finished.head = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, ReasonOf(answer.status));
  if (answer.status != 204) finished.head += fmt::format("content-type: {}\r\n", answer.type);
  finished.head += fmt::format("cache-control: {}\r\n", CacheControlOf(answer.reuse));
  finished.head += "x-content-type-options: nosniff\r\n";
  finished.packs = MayCompress(answer);
  if (finished.packs) finished.head += "vary: accept-encoding\r\n";
  for (const HttpField& field : answer.fields) {
    finished.head += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  finished.answer = std::move(answer);
  return finished;
}

std::string FinishedAnswer::TagOf(bool is_gzip) const {
  if (tag.empty() || !is_gzip) return tag;
  return tag.substr(0, tag.size() - 1) + "-gzip\"";
}

SentAnswer Compose(const FinishedAnswer& finished, const SendOptions& options,
                   const std::vector<HttpField>& further) {
  SentAnswer sent;
  std::string_view head = finished.head;
  if (options.not_modified) {
    sent.head = fmt::format("HTTP/1.1 304 {}\r\n", ReasonOf(304));
    head.remove_prefix(head.find('\n') + 1);
  }
  sent.head.reserve(sent.head.size() + head.size() + 256);
  sent.head += head;
  if (!finished.tag.empty()) {
    sent.head.append("etag: ").append(finished.TagOf(options.gzip)).append("\r\n");
  }
  for (const HttpField& field : further) {
    sent.head += field.name;
    sent.head += ": ";
    sent.head += field.value;
    sent.head += "\r\n";
  }
  if (!options.date.empty()) sent.head.append("date: ").append(options.date).append("\r\n");
  if (!options.keeps_alive) {
    sent.head += "connection: close\r\n";
  } else if (options.is_old) {
    sent.head += "connection: keep-alive\r\n";
  }
  const HttpAnswer& answer = finished.answer;
  const std::string_view body = options.gzip ? *finished.gzip : answer.body;
  if (options.gzip && !options.not_modified) sent.head += "content-encoding: gzip\r\n";
  if (answer.stream) {
    if (const auto size = answer.stream->size()) {
      sent.head += fmt::format("content-length: {}\r\n", *size);
    } else if (!options.is_old) {
      sent.head += "transfer-encoding: chunked\r\n";
    }
  } else if (!options.not_modified && answer.status != 204) {
    sent.head += fmt::format("content-length: {}\r\n", body.size());
  }
  sent.head += "\r\n";
  if (!options.head_only && !options.not_modified) sent.body = body;
  return sent;
}

std::shared_ptr<FinishedAnswer> AnswerCache::Find(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void AnswerCache::Keep(const std::string& key, std::shared_ptr<FinishedAnswer> answer) {
  // One large answer must not drive out all others.
  if (answer->bytes() > most_bytes_ / 4 || by_key_.contains(key)) return;
  answer->is_kept = true;
  entries_.emplace_front(key, std::move(answer));
  by_key_.emplace(entries_.front().first, entries_.begin());
  bytes_ += BytesOf(entries_.front());
  Shrink();
}

void AnswerCache::Complete(FinishedAnswer& answer, std::shared_ptr<const std::string> gzip) {
  if (answer.gzip) return;  // two clients asked at once
  answer.gzip = std::move(gzip);
  Grow(answer, answer.gzip->size());
}

void AnswerCache::Complete(FinishedAnswer& answer, std::string body) {
  if (!answer.is_only_packed()) return;
  answer.answer.body = std::move(body);
  Grow(answer, answer.answer.body.size());
}

void AnswerCache::Grow(const FinishedAnswer& answer, size_t bytes) {
  if (!answer.is_kept) return;
  bytes_ += bytes;
  Shrink();
}

// A short answer to a long question takes memory, too.
size_t AnswerCache::BytesOf(const Entry& entry) {
  constexpr size_t kForTheBooks = 512;
  return entry.first.size() + entry.second->bytes() + kForTheBooks;
}

void AnswerCache::Shrink() {
  while (bytes_ > most_bytes_ && !entries_.empty()) {
    bytes_ -= BytesOf(entries_.back());
    entries_.back().second->is_kept = false;
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

}  // namespace beryl::server
