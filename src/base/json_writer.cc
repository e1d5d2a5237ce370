#include "base/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/text.h"

namespace beryl {
namespace {

constexpr size_t kLongestNumber = 32;  // the longest double has 24 digits and signs
constexpr size_t kWord = sizeof(uint64_t);

constexpr uint64_t Each(uint64_t byte) { return 0x0101010101010101 * byte; }
constexpr uint64_t AnyZero(uint64_t word) { return (word - Each(1)) & ~word; }

// True if nothing in these eight bytes needs escaping or repair.
bool IsPlain(uint64_t word) {
  const uint64_t below_blank = (word - Each(' ')) & ~word;
  const uint64_t odd = below_blank | word | AnyZero(word ^ Each('"')) | AnyZero(word ^ Each('\\')) |
                       AnyZero(word ^ Each('\x7f'));
  return (odd & Each(0x80)) == 0;
}

// Copies a text if nothing in it needs escaping or repair, as in almost every name. `to` has room
// for eight bytes at least.
bool CopyPlain(std::string_view text, char* to) {
  uint64_t word = Each('a');
  if (text.size() < kWord) {
    std::memcpy(&word, text.data(), text.size());
    std::memcpy(to, &word, kWord);
    return IsPlain(word);
  }
  const auto copy = [&](size_t at) {
    std::memcpy(&word, text.data() + at, kWord);
    std::memcpy(to + at, &word, kWord);
    return IsPlain(word);
  };
  const size_t last = text.size() - kWord;
  for (size_t at = 0; at < last; at += kWord) {
    if (!copy(at)) return false;
  }
  return copy(last);
}

char* Put(std::string_view text, char* to) { return std::copy(text.begin(), text.end(), to); }

}  // namespace

JsonName::JsonName(std::string_view name) : quoted_(JsonWriter().Key(name).Take()) {}

JsonWriter& JsonWriter::Open(char open, char close) {
  char* at = Begin(1);
  *at = open;
  Advance(at + 1);
  levels_.push_back({close});
  return *this;
}

JsonWriter& JsonWriter::End() {
  const Level level = levels_.back();
  char* at = Room(2 + levels_.size() * static_cast<size_t>(indent_));
  levels_.pop_back();
  if (!level.empty) at = NewLine(at);
  *at = level.close;
  Advance(at + 1);
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Value(name);
  char* at = Room(2);
  *at++ = ':';
  if (indent_ > 0) *at++ = ' ';
  Advance(at);
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(const JsonName& name) {
  char* at = Put(name.quoted_, Begin(name.quoted_.size() + 1));
  if (indent_ > 0) *at++ = ' ';
  Advance(at);
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  char* at = Begin(text.size() + 2 + kWord);
  *at = '"';
  if (CopyPlain(text, at + 1)) {
    at += 1 + text.size();
  } else {
    Advance(at + 1);
    Escape(text);
    at = Room(1);
  }
  *at = '"';
  Advance(at + 1);
  return *this;
}

JsonWriter& JsonWriter::Lines(std::string_view text) {
  Raw("\"");
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    Escape(text.substr(0, end));
    MoreMembers("\\n");
    text.remove_prefix(end + 1);
  }
  Escape(text);
  return MoreMembers("\"");
}

void JsonWriter::Escape(std::string_view line) {
  // Escape after making the text valid: names may hold any bytes.
  const std::string clean = Printable(line);
  char* at = Room(2 * clean.size());
  for (const char c : clean) {
    if (c == '"' || c == '\\') *at++ = '\\';
    *at++ = c;
  }
  Advance(at);
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Raw("null");
  Advance(fmt::format_to(Begin(kLongestNumber), FMT_COMPILE("{}"), number));
  return *this;
}

template <typename Number>
JsonWriter& JsonWriter::Whole(Number number) {
  char* at = Begin(kLongestNumber);
  Advance(std::to_chars(at, at + kLongestNumber, number).ptr);
  return *this;
}
template JsonWriter& JsonWriter::Whole(int64_t number);
template JsonWriter& JsonWriter::Whole(uint64_t number);

JsonWriter& JsonWriter::Value(bool truth) { return Raw(truth ? "true" : "false"); }

JsonWriter& JsonWriter::Raw(std::string_view text) {
  Advance(Put(text, Begin(text.size())));
  return *this;
}

JsonWriter& JsonWriter::MoreMembers(std::string_view text) {
  Advance(Put(text, Room(text.size())));
  return *this;
}

char* JsonWriter::Room(size_t bytes) {
  if (text_.size() - size_ < bytes) text_.resize(std::max(2 * text_.size(), size_ + bytes));
  return text_.data() + size_;
}

char* JsonWriter::Begin(size_t bytes) {
  char* at = Room(bytes + 2 + levels_.size() * static_cast<size_t>(indent_));
  if (std::exchange(after_key_, false) || levels_.empty()) return at;
  if (!std::exchange(levels_.back().empty, false)) *at++ = ',';
  return NewLine(at);
}

char* JsonWriter::NewLine(char* at) const {
  if (indent_ == 0) return at;
  *at++ = '\n';
  const size_t blanks = levels_.size() * static_cast<size_t>(indent_);
  std::memset(at, ' ', blanks);
  return at + blanks;
}

std::string JsonWriter::Take() {
  text_.resize(std::exchange(size_, 0));
  return std::exchange(text_, {});
}

}  // namespace beryl
