#include "base/sheet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv.h"
#include "base/text.h"

namespace beryl {

Result<Sheet> ReadSheet(std::string text, const std::string& name,
                        const std::vector<std::string_view>& columns, size_t required) {
  Sheet sheet;
  std::vector<size_t> places;
  CsvReader lines(text, CsvComments::kHash);
  for (CsvFields fields; lines.Next(fields);) {
    if (!lines.well_formed()) {
      return InvalidError(fmt::format("{}:{}: a quote that is not closed on its line; close it",
                                      Printable(name), lines.line()));
    }
    if (places.empty()) {
      for (const std::string_view column : columns) {
        places.push_back(FindCsvColumn(fields, column));
        if (places.back() == kNoCsvColumn && places.size() <= required) {
          return InvalidError(fmt::format(
              "{}:{}: the header has no column '{}'; expected {}", Printable(name), lines.line(),
              column, fmt::join(columns.data(), columns.data() + required, ",")));
        }
      }
      continue;
    }
    Sheet::Row row{lines.line(), {}};
    for (const size_t place : places) {
      row.fields.emplace_back(CsvField(fields, place));
    }
    sheet.rows.push_back(std::move(row));
  }
  if (places.empty()) {
    return InvalidError(fmt::format("{}: nothing in it; expected a header with {}", Printable(name),
                                    fmt::join(columns.data(), columns.data() + required, ",")));
  }
  return sheet;
}

}  // namespace beryl
