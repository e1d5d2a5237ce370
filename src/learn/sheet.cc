#include "learn/sheet.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "learn/csv_fields.h"

namespace beryl::learn {
namespace {

constexpr size_t kAbsent = ~size_t{0};

}  // namespace

Result<Sheet> ReadSheet(std::string text, const std::string& name,
                        const std::vector<std::string_view>& columns, size_t required) {
  Sheet sheet;
  std::vector<size_t> places;
  CsvLines lines(text);
  for (Fields fields; lines.Next(fields);) {
    if (fields.front().starts_with('#')) continue;
    if (places.empty()) {
      for (const std::string_view column : columns) {
        const auto at = std::find(fields.begin(), fields.end(), column);
        if (at == fields.end() && places.size() < required) {
          return InvalidError(fmt::format(
              "{}:{}: the header has no column '{}'; expected {}", Printable(name), lines.line(),
              column, fmt::join(columns.data(), columns.data() + required, ",")));
        }
        places.push_back(at == fields.end() ? kAbsent : static_cast<size_t>(at - fields.begin()));
      }
      continue;
    }
    Sheet::Row row{lines.line(), {}};
    for (const size_t place : places) {
      row.fields.emplace_back(place < fields.size() ? fields[place] : std::string_view());
    }
    sheet.rows.push_back(std::move(row));
  }
  if (places.empty()) {
    return InvalidError(fmt::format("{}: nothing in it; expected a header with {}", Printable(name),
                                    fmt::join(columns.data(), columns.data() + required, ",")));
  }
  return sheet;
}

}  // namespace beryl::learn
