#include "server/http/multipart.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "server/http/message.h"

namespace beryl::server {
namespace {

constexpr size_t kLongestBoundary = 70;  // RFC 2046
constexpr size_t kLongestHead = size_t{8} << 10;
constexpr size_t kMostParts = 10'000;

// A value with parameters: `form-data; name="run"; filename="a.beryl"`. In quotes, a backslash is
// before a quote or a backslash that is meant; before anything else it is itself, as in the paths
// that some clients send.
struct WithParameters {
  std::string value;               // in lower case
  std::vector<HttpField> further;  // names in lower case

  std::optional<std::string> Find(std::string_view name) const {
    for (const HttpField& one : further) {
      if (one.name == name) return one.value;
    }
    return std::nullopt;
  }
};

std::optional<WithParameters> ParseWithParameters(std::string_view text) {
  WithParameters parsed;
  size_t at = text.find(';');
  parsed.value = LowerCase(Trim(text.substr(0, at)));
  while (at != std::string_view::npos) {
    text.remove_prefix(at + 1);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      return Trim(text).empty() ? std::optional(parsed) : std::nullopt;
    }
    HttpField& one = parsed.further.emplace_back();
    one.name = LowerCase(Trim(text.substr(0, equals)));
    text = text.substr(equals + 1);
    if (!text.starts_with('"')) {
      at = text.find(';');
      one.value = Trim(text.substr(0, at));
      continue;
    }
    size_t i = 1;
    for (; i < text.size() && text[i] != '"'; ++i) {
      const bool escapes =
          text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
      if (escapes) ++i;
      one.value += text[i];
    }
    if (i >= text.size()) return std::nullopt;
    at = text.find(';', i);
  }
  return parsed;
}

Result<PartHead> ParseHead(std::string_view head) {
  const Error bad = InvalidError("a part of the form does not say which field it is");
  PartHead part;
  bool is_named = false;
  for (std::string_view line : Split(head, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = LowerCase(Trim(line.substr(0, colon)));
    if (name == "content-type") part.type = Trim(line.substr(colon + 1));
    if (name != "content-disposition") continue;
    const auto disposition = ParseWithParameters(Trim(line.substr(colon + 1)));
    if (!disposition || disposition->value != "form-data") return bad;
    const auto field = disposition->Find("name");
    if (!field) return bad;
    is_named = true;
    part.name = *field;
    part.file_name = disposition->Find("filename");
  }
  if (!is_named) return bad;
  return part;
}

}  // namespace

std::optional<std::string> BoundaryOf(std::string_view content_type) {
  const auto parsed = ParseWithParameters(content_type);
  if (!parsed || parsed->value != "multipart/form-data") return std::nullopt;
  auto boundary = parsed->Find("boundary");
  if (!boundary || boundary->empty() || boundary->size() > kLongestBoundary) return std::nullopt;
  return boundary;
}

// The first boundary may be at the very beginning, where no line ends before it.
MultipartReader::MultipartReader(const std::string& boundary, Sink sink)
    : delimiter_("\r\n--" + boundary), sink_(std::move(sink)), waiting_("\r\n") {}

Status MultipartReader::Take(std::string_view piece) {
  waiting_ += piece;
  bool goes_on = true;
  while (goes_on) goes_on = TRY(Step());
  return {};
}

Status MultipartReader::End() const {
  if (place_ == Place::kAfter) return {};
  return InvalidError("the form has no end");
}

// False: it needs more.
Result<bool> MultipartReader::Step() {
  switch (place_) {
    case Place::kBefore:
    case Place::kPart: {
      const size_t found = waiting_.find(delimiter_);
      const bool has_end = found != std::string::npos;
      // The rest may be the beginning of the delimiter.
      const size_t sure =
          has_end ? found : waiting_.size() - std::min(waiting_.size(), delimiter_.size() - 1);
      if (place_ == Place::kPart && sure > 0) {
        TRY(sink_.take(std::string_view(waiting_).substr(0, sure)));
      }
      waiting_.erase(0, has_end ? found + delimiter_.size() : sure);
      if (!has_end) return false;
      if (place_ == Place::kPart) TRY(sink_.end());
      place_ = Place::kBoundary;
      return true;
    }
    case Place::kBoundary: {
      // Blanks may follow it (RFC 2046).
      const size_t word = waiting_.find_first_not_of(" \t");
      if (word > kLongestHead && word != std::string::npos) break;
      if (word == std::string::npos || waiting_.size() - word < 2) {
        // As many as would be too many with what may still come.
        if (waiting_.size() > kLongestHead + 1) break;
        return false;
      }
      const std::string_view next = std::string_view(waiting_).substr(word, 2);
      if (next != "\r\n" && next != "--") break;
      place_ = next == "--" ? Place::kAfter : Place::kHead;
      // The end of the line stays: a head may be empty.
      waiting_.erase(0, next == "--" ? waiting_.size() : word);
      return true;
    }
    case Place::kHead: {
      constexpr std::string_view kEnd = "\r\n\r\n";
      const size_t end = waiting_.find(kEnd);
      const bool is_too_long = end == std::string::npos
                                   ? waiting_.size() >= kLongestHead + kEnd.size()
                                   : end > kLongestHead;
      if (is_too_long) break;
      if (end == std::string::npos) return false;
      if (++parts_ > kMostParts) return InvalidError("the form has too many parts");
      const PartHead head = TRY(ParseHead(std::string_view(waiting_).substr(0, end)));
      TRY(sink_.begin(head));
      waiting_.erase(0, end + kEnd.size());
      place_ = Place::kPart;
      return true;
    }
    case Place::kAfter:
      waiting_.clear();
      return false;
  }
  return InvalidError("the form is damaged after a boundary");
}

}  // namespace beryl::server
