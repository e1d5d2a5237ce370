#include "types/module_names.h"

#include <utility>

namespace beryl {

std::string NameKey(std::string_view name) {
  std::string key;
  std::string word;
  const auto flush = [&] {
    if (word.empty() || word == "module" || word == "orig" || word == "mod") {
      word.clear();
      return;
    }
    if (!key.empty()) key += '.';
    key += word;
    word.clear();
  };
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit) {
      flush();
    } else {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  flush();
  return key;
}

std::string NameKey(std::string_view name, std::string_view around) {
  std::string key = NameKey(name);
  const std::string outer = NameKey(around) + ".";
  if (outer.size() > 1 && key.starts_with(outer)) key.erase(0, outer.size());
  return key;
}

bool AreRelated(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return false;
  size_t front = 0;
  while (front < a.size() && a[front] == b[front]) ++front;
  size_t back = 0;
  while (back < a.size() && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back >= a.size();
}

}  // namespace beryl
