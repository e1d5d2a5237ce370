#include "learn/csv_fields.h"

#include <cstring>

#include "base/text.h"

namespace beryl::learn {

CsvLines::CsvLines(std::string& text) : at_(text.data()), end_(text.data() + text.size()) {
  if (text.starts_with("\xEF\xBB\xBF")) at_ += 3;
}

bool CsvLines::Next(Fields& fields) {
  while (at_ < end_) {
    char* const start = at_;
    void* const found = std::memchr(start, '\n', static_cast<size_t>(end_ - start));
    char* stop = found == nullptr ? end_ : static_cast<char*>(found);
    at_ = found == nullptr ? end_ : stop + 1;
    ++line_;
    const std::string_view line(start, static_cast<size_t>(stop - start));
    if (Trim(line).empty()) continue;
    if (line.ends_with('\r')) --stop;
    SplitFields(start, stop, fields);
    return true;
  }
  return false;
}

void CsvLines::SplitFields(char* at, char* end, Fields& fields) {
  fields.clear();
  well_formed_ = true;
  for (;;) {
    while (at < end && (*at == ' ' || *at == '\t')) ++at;
    if (at < end && *at == '"') {
      at = ReadQuoted(at, end, fields);
    } else {
      const void* const found = std::memchr(at, ',', static_cast<size_t>(end - at));
      char* const stop = found == nullptr ? end : at + (static_cast<const char*>(found) - at);
      fields.push_back(Trim({at, static_cast<size_t>(stop - at)}));
      at = stop;
    }
    if (at >= end) return;
    ++at;  // the comma
  }
}

// Returns where the field's comma is, or the end.
char* CsvLines::ReadQuoted(char* at, char* end, Fields& fields) {
  char* const start = ++at;
  char* to = start;
  for (; at < end; *to++ = *at++) {
    if (*at != '"') continue;
    if (at + 1 < end && at[1] == '"') {
      ++at;  // two stand for one
    } else {
      break;
    }
  }
  well_formed_ = well_formed_ && at < end;
  fields.push_back(Trim({start, static_cast<size_t>(to - start)}));
  if (at < end) ++at;
  while (at < end && (*at == ' ' || *at == '\t')) ++at;
  if (at < end && *at != ',') {
    well_formed_ = false;
    at = end;
  }
  return at;
}

}  // namespace beryl::learn
