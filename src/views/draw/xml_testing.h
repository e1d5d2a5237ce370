// Whether a text is well-formed XML, for the tests of this room: what a strict reader refuses of
// the little that pictures use (elements, attributes, character data, five entities).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace beryl::views {

// The first thing that is wrong, or nothing.
inline std::string WrongWithXml(std::string_view text) {
  std::vector<std::string> open;
  bool had_root = false;
  auto wrong_character = [](std::string_view data) -> std::string {
    for (size_t at = 0; at < data.size(); ++at) {
      const auto c = static_cast<unsigned char>(data[at]);
      if (c < 0x20 && c != '\n' && c != '\t') return "a control character";
      if (c == '<') return "a bare <";
      if (c == '&') {
        const std::string_view entity = data.substr(at, data.substr(at).find(';') + 1);
        if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
          return "a bare &";
        }
      }
      const size_t length = c < 0x80   ? 1
                            : c < 0xC2 ? 0
                            : c < 0xE0 ? 2
                            : c < 0xF0 ? 3
                            : c < 0xF5 ? 4
                                       : 0;
      if (length == 0 || at + length > data.size()) return "invalid UTF-8";
      for (size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(data[at + i]) & 0xC0) != 0x80) return "invalid UTF-8";
      }
      const std::string_view bytes = data.substr(at, length);
      if (bytes == "\xEF\xBF\xBE" || bytes == "\xEF\xBF\xBF") return "a character XML forbids";
      if (bytes[0] == '\xED' && static_cast<unsigned char>(bytes[1]) >= 0xA0) return "a surrogate";
      at += length - 1;
    }
    return "";
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '<') {
      const size_t end = std::min(text.find('<', at), text.size());
      const std::string_view data = text.substr(at, end - at);
      if (std::string wrong = wrong_character(data); !wrong.empty()) return wrong;
      if (open.empty() && data.find_first_not_of(" \n") != std::string_view::npos) {
        return "text outside of the root";
      }
      at = end;
      continue;
    }
    size_t end = at + 1;
    char quote = '\0';
    size_t value_start = 0;
    for (; end < text.size() && (quote != '\0' || text[end] != '>'); ++end) {
      if (quote == '\0' && (text[end] == '"' || text[end] == '\'')) {
        quote = text[end];
        value_start = end + 1;
      } else if (quote != '\0' && text[end] == quote) {
        quote = '\0';
        if (std::string wrong = wrong_character(text.substr(value_start, end - value_start));
            !wrong.empty()) {
          return wrong + " in an attribute";
        }
      }
    }
    if (end == text.size()) return "a tag without an end";
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    const bool closes = tag.starts_with('/');
    const bool empty = tag.ends_with('/');
    const std::string_view rest = tag.substr(closes ? 1 : 0);
    const std::string name(rest.substr(0, rest.find_first_of(" /\n")));
    if (name.empty()) return "a tag without a name";
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else {
      if (open.empty() && had_root) return "two roots";
      had_root = true;
      if (!empty) open.push_back(name);
    }
  }
  if (!open.empty()) return "<" + open.back() + "> stays open";
  return had_root ? "" : "no root";
}

}  // namespace beryl::views
