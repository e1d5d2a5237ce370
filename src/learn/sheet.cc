#include "learn/sheet.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::learn {
namespace {

constexpr size_t kAbsent = ~size_t{0};

// The fields of a line. A quote that is never closed takes the rest of the line.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = std::string(Trim(field));
  return fields;
}

}  // namespace

Result<Sheet> ReadSheet(std::string_view text, const std::string& name,
                        const std::vector<std::string_view>& columns, size_t required) {
  Sheet sheet;
  std::vector<size_t> places;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  uint64_t line_number = 0;
  for (const std::string_view whole : Split(text, '\n')) {
    ++line_number;
    const std::string_view line = Trim(whole);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = Fields(line);
    if (places.empty()) {
      for (const std::string_view column : columns) {
        const auto at = std::find(fields.begin(), fields.end(), column);
        if (at == fields.end() && places.size() < required) {
          return InvalidError(
              fmt::format("{}:{}: the header has no column '{}'; expected {}", Printable(name),
                          line_number, column,
                          fmt::join(columns.begin(),
                                    columns.begin() + static_cast<std::ptrdiff_t>(required), ",")));
        }
        places.push_back(at == fields.end() ? kAbsent : static_cast<size_t>(at - fields.begin()));
      }
      continue;
    }
    Sheet::Row row{line_number, {}};
    for (const size_t place : places) {
      row.fields.push_back(place < fields.size() ? fields[place] : std::string());
    }
    sheet.rows.push_back(std::move(row));
  }
  if (places.empty()) {
    return InvalidError(fmt::format("{}: nothing in it; expected a header with {}", Printable(name),
                                    fmt::join(columns, ",")));
  }
  return sheet;
}

}  // namespace beryl::learn
