#include "base/json.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/out_of_memory.h"
#include "base/text.h"

namespace beryl::json {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Checks the grammar with an explicit stack: text may nest deeper than the call stack allows.
class SyntaxChecker {
 public:
  explicit SyntaxChecker(std::string_view text) : text_(text) {}

  std::optional<SyntaxError> Run() {
    for (;;) {
      SkipSpace();
      if (state_ == State::kDone && at_ == text_.size()) return std::nullopt;
      if (!Step()) return SyntaxError{at_, at_ >= text_.size(), expected_};
    }
  }

 private:
  enum class State { kValue, kFirstElement, kFirstMember, kMember, kAfterValue, kDone };

  bool Step() {
    switch (state_) {
      case State::kValue:
        return Value("a value");
      case State::kFirstElement:
        return Take(']') ? Close() : Value("a value or ']'");
      case State::kFirstMember:
        return Take('}') ? Close() : Member("a member name in quotes or '}'");
      case State::kMember:
        return Member("a member name in quotes");
      case State::kAfterValue:
        return AfterValue();
      case State::kDone:
        break;
    }
    return Expected("the end of the text");
  }

  bool Expected(std::string what) {
    expected_ = std::move(what);
    return false;
  }
  bool Close() {
    open_.pop_back();
    return Finish();
  }
  bool Finish() {
    state_ = open_.empty() ? State::kDone : State::kAfterValue;
    return true;
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool Value(const char* expected) {
    if (at_ < text_.size() && text_[at_] == '"') return String("a string") && Finish();
    if (Take('{')) return Open('{', State::kFirstMember);
    if (Take('[')) return Open('[', State::kFirstElement);
    return Scalar(expected) && Finish();
  }
  bool Open(char bracket, State state) {
    open_.push_back(bracket);
    state_ = state;
    return true;
  }

  bool Member(const char* expected) {
    if (at_ >= text_.size() || text_[at_] != '"') return Expected(expected);
    if (!String("a member name")) return false;
    SkipSpace();
    state_ = State::kValue;
    return Take(':') || Expected("':' after the member name");
  }

  bool AfterValue() {
    const bool object = open_.back() == '{';
    if (Take(object ? '}' : ']')) return Close();
    state_ = object ? State::kMember : State::kValue;
    return Take(',') || Expected(object ? "',' or '}'" : "',' or ']'");
  }

  bool String(const char* what) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    return Take('"') || Expected(fmt::format("the closing quote of {}", what));
  }

  bool Scalar(const char* expected) {
    const size_t start = at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) &&
           std::string_view(",]}:\"[{").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    const std::string_view word = text_.substr(start, at_ - start);
    const bool number = !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) &&
                        word.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
    if (number || word == "true" || word == "false" || word == "null") return true;
    // A word at the end may have been cut, but only if it begins like one of these.
    const auto begins = [&](std::string_view whole) { return whole.starts_with(word); };
    const bool cut = begins("true") || begins("false") || begins("null");
    if (at_ < text_.size() || !cut) at_ = start;
    return Expected(expected);
  }

  std::string_view text_;
  size_t at_ = 0;
  State state_ = State::kValue;
  std::string expected_;
  std::string open_;  // stack of open brackets
};

}  // namespace

std::optional<int64_t> Value::Integer() {
  std::string_view token = Token();
  if (!token.empty() && token.front() == '"') {
    token.remove_prefix(1);
    if (!token.empty()) token.remove_suffix(1);
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return number;
}

std::string_view Value::Raw(size_t limit) {
  const std::string_view first = value_.raw_json_token();
  if (!IsObject() && !IsArray()) return Token().substr(0, limit);
  simdjson::ondemand::array array;
  simdjson::ondemand::object object;
  std::string_view raw;
  const bool ok = first.front() == '[' ? value_.get_array().get(array) == simdjson::SUCCESS &&
                                             array.raw_json().get(raw) == simdjson::SUCCESS
                                       : value_.get_object().get(object) == simdjson::SUCCESS &&
                                             object.raw_json().get(raw) == simdjson::SUCCESS;
  return ok ? raw.substr(0, limit) : std::string_view();
}

Status WalkObject(std::string& text, const std::string& name,
                  const std::function<void(Key, Value)>& visit) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto open = [&] {
    return parser.iterate(text.data(), text.size(), text.capacity()).get(document);
  };
  auto status = open();
  if (status == simdjson::UTF8_ERROR || status == simdjson::UNESCAPED_CHARS) {
    size_t first = 0;
    Sanitize(text.data(), text.size(), first);
    status = open();
  }
  if (status == simdjson::MEMALLOC) throw OutOfMemory(text.size());
  if (status == simdjson::SUCCESS && document.get_object().get(object) == simdjson::SUCCESS &&
      Value::Members(object, visit)) {
    return {};
  }
  const auto error = FindSyntaxError(text);
  if (!error) return InvalidError(fmt::format("{}: expected a JSON object", name));
  return InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", name, error->offset,
                                  Describe(*error, text)));
}

std::optional<SyntaxError> FindSyntaxError(std::string_view text) {
  return SyntaxChecker(text).Run();
}

std::string Describe(const SyntaxError& error, std::string_view text) {
  if (error.at_end) return fmt::format("expected {}, found the end of the file", error.expected);
  const char c = text[error.offset];
  if (c < ' ' || c > '~') {
    return fmt::format("expected {}, found byte 0x{:02x}", error.expected,
                       static_cast<unsigned char>(c));
  }
  return fmt::format("expected {}, found '{}'", error.expected, c);
}

size_t Sanitize(char* text, size_t size, size_t& first) {
  size_t changed = 0;
  auto replace = [&](size_t at, char with) {
    if (changed++ == 0) first = at;
    text[at] = with;
  };
  for (size_t i = 0; i < size;) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20) {
      // White space between tokens equals a blank; inside a string it is not allowed unescaped.
      if (IsSpace(text[i])) {
        text[i] = ' ';
      } else {
        replace(i, ' ');
      }
      ++i;
      continue;
    }
    const size_t length = Utf8Length({text + i, size - i});
    if (length == 0) replace(i, '?');
    i += length == 0 ? 1 : length;
  }
  return changed;
}

}  // namespace beryl::json
