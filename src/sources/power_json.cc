#include "sources/power_json.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/json.h"

namespace beryl::sources {
namespace {

constexpr size_t kReadBytes = size_t{128} << 10;
// No device has a longer name, and no number more digits.
constexpr size_t kLongestText = 4096;
constexpr size_t kDeepest = 1000;

bool IsSpace(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsPunctuation(int c) {
  return c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']' || c == '"';
}

// After the first error every call fails and does nothing.
class Reader {
 public:
  Reader(ByteSource& source, PowerReadings& readings) : source_(source), readings_(readings) {}

  Status Read() {
    if (Peek() == 0xEF) {  // a byte order mark
      for (int i = 0; i < 3; ++i) Take();
    }
    const bool read = Expect('{', "an object") && Members([&] { return Device(); }) && AtEnd();
    if (read) return {};
    return error_;
  }

 private:
  static constexpr int kEnd = -1;

  int Peek() {
    if (at_ == size_) {
      passed_ += size_;
      const auto got = source_.Read(buffer_.data(), buffer_.size());
      if (!got && !failed_) Fail(got.error());
      at_ = 0;
      size_ = got ? *got : 0;
    }
    return at_ == size_ || failed_ ? kEnd : static_cast<unsigned char>(buffer_[at_]);
  }
  void Take() { ++at_; }
  uint64_t offset() const { return passed_ + at_; }
  int PeekWord() {
    while (IsSpace(Peek())) Take();
    return Peek();
  }

  bool Fail(Error error) {
    failed_ = true;
    error_ = std::move(error);
    return false;
  }
  bool Expected(std::string_view what) {
    const int c = Peek();
    if (failed_) return false;
    const char found = c == kEnd ? ' ' : static_cast<char>(c);
    return Fail(
        InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", source_.name(), offset(),
                                 json::Describe({0, c == kEnd, std::string(what)}, {&found, 1}))));
  }
  bool Expect(char c, std::string_view what) {
    if (PeekWord() != c) return Expected(what);
    Take();
    return true;
  }
  bool AtEnd() { return PeekWord() == kEnd ? !failed_ : Expected("the end of the text"); }

  // The members of an object whose bracket was taken: `value` takes each one's value; its name is
  // in name_.
  template <typename Value>
  bool Members(Value&& value) {
    if (PeekWord() == '}') return Expect('}', "");
    for (;;) {
      if (PeekWord() != '"') return Expected("a member name in quotes");
      const uint64_t start = offset();
      if (!String("a member name")) return false;
      if (is_long_)
        return Fail(InvalidError(fmt::format(
            "{}: the name at byte {} is longer than {} bytes: these are no power readings",
            source_.name(), start, kLongestText)));
      name_ = Unescaped(text_);
      if (!Expect(':', "':' after the member name")) return false;
      PeekWord();
      if (!value()) return false;
      if (PeekWord() == '}') return Expect('}', "");
      if (!Expect(',', "',' or '}'")) return false;
    }
  }

  bool Device() {
    if (Peek() != '{') {
      const uint64_t start = offset();
      if (!Skip()) return false;
      readings_.Drop(NoteKind::kReadingsNotObject, start);
      return true;
    }
    Take();
    const std::string device = name_;
    return Members([&] {
      const uint64_t start = offset();
      const bool plain = Peek() != '"' && Peek() != '{' && Peek() != '[';
      if (!Skip()) return false;
      const bool number = plain && !is_long_;
      readings_.Add(device, name_, number ? text_ : std::string_view("?"), std::nullopt, start);
      return true;
    });
  }

  // Takes a value of any kind. Of one that is not an object or array, text_ has the text.
  bool Skip() {
    std::string open;
    for (bool before_value = true;;) {
      const int c = PeekWord();
      if (before_value && (c == '{' || c == '[')) {
        if (open.size() == kDeepest) return Expected("fewer brackets");
        open += c == '{' ? '}' : ']';
        Take();
        if (PeekWord() == open.back()) {
          before_value = false;
        } else if (c == '{' && !MemberName()) {
          return false;
        }
        continue;
      }
      if (before_value && !(c == '"' ? String("a string") : Scalar())) return false;
      if (!before_value && c == open.back()) {
        Take();
        open.pop_back();
      } else if (!before_value) {
        if (!Expect(',', open.back() == '}' ? "',' or '}'" : "',' or ']'")) return false;
        if (open.back() == '}' && !MemberName()) return false;
        before_value = true;
        continue;
      }
      if (open.empty()) return true;
      before_value = false;
    }
  }
  bool MemberName() {
    if (PeekWord() != '"') return Expected("a member name in quotes");
    return String("a member name") && Expect(':', "':' after the member name");
  }

  // Without its quotes, escapes as written.
  bool String(std::string_view what) {
    text_.clear();
    is_long_ = false;
    Take();
    for (;; Take()) {
      const int c = Peek();
      if (c == kEnd) return Expected(fmt::format("the closing quote of {}", what));
      if (c == '"') break;
      Append(c);
      if (c != '\\') continue;
      Take();
      if (Peek() != kEnd) Append(Peek());
    }
    Take();
    return true;
  }
  bool Scalar() {
    text_.clear();
    is_long_ = false;
    for (int c = Peek(); c != kEnd && !IsSpace(c) && !IsPunctuation(c); c = Peek()) {
      if (text_.empty() && c != '-' && (c < '0' || c > '9') && c != 't' && c != 'f' && c != 'n') {
        return Expected("a value");
      }
      Append(c);
      Take();
    }
    return !text_.empty() || Expected("a value");
  }
  void Append(int c) {
    is_long_ = text_.size() >= kLongestText;
    if (!is_long_) text_ += static_cast<char>(c);
  }

  static std::string Unescaped(const std::string& text) {
    if (text.find('\\') == std::string::npos) return text;
    std::string plain = text;
    std::string document = fmt::format("{{\"\":\"{}\"}}", text);
    (void)json::WalkObject(
        document, "", [&](json::Key, json::Value value) { plain = value.String().value_or(text); });
    return plain;
  }

  ByteSource& source_;
  PowerReadings& readings_;
  std::string buffer_ = std::string(kReadBytes, '\0');
  size_t at_ = 0;
  size_t size_ = 0;
  uint64_t passed_ = 0;  // bytes before the buffer
  std::string name_;
  std::string text_;
  bool is_long_ = false;  // text_ has only the beginning
  bool failed_ = false;
  Error error_;
};

}  // namespace

Status ReadPowerJson(ByteSource& source, PowerReadings& readings) {
  return Reader(source, readings).Read();
}

}  // namespace beryl::sources
