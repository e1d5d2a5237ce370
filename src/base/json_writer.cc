#include "base/json_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/text.h"

namespace beryl {
namespace {

// True if nothing needs escaping or repair, as for almost every name.
bool IsPlain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; });
}

}  // namespace

JsonWriter& JsonWriter::Open(char open, char close) {
  Separate();
  text_ += open;
  levels_.push_back({close});
  return *this;
}

JsonWriter& JsonWriter::End() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty) NewLine();
  text_ += level.close;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Value(name);
  text_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  text_ += '"';
  Escape(text);
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Lines(std::string_view text) {
  Separate();
  text_ += '"';
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    Escape(text.substr(0, end));
    text_ += "\\n";
    text.remove_prefix(end + 1);
  }
  Escape(text);
  text_ += '"';
  return *this;
}

void JsonWriter::Escape(std::string_view line) {
  if (IsPlain(line)) {
    text_.append(line);
    return;
  }
  // Escape after making the text valid: names may hold any bytes.
  const std::string clean = Printable(line);
  for (const char c : clean) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Raw("null");
  std::array<char, 64> digits;  // the longest double has 24
  const char* end = fmt::format_to(digits.data(), FMT_COMPILE("{}"), number);
  return Raw({digits.data(), static_cast<size_t>(end - digits.data())});
}

JsonWriter& JsonWriter::Value(bool truth) { return Raw(truth ? "true" : "false"); }

JsonWriter& JsonWriter::Raw(std::string_view text) {
  Separate();
  text_ += text;
  return *this;
}

void JsonWriter::Separate() {
  if (std::exchange(after_key_, false) || levels_.empty()) return;
  if (!std::exchange(levels_.back().empty, false)) text_ += ',';
  NewLine();
}

void JsonWriter::NewLine() {
  if (indent_ == 0) return;
  text_ += '\n';
  text_.append(levels_.size() * static_cast<size_t>(indent_), ' ');
}

std::string JsonWriter::Take() { return std::exchange(text_, {}); }

}  // namespace beryl
