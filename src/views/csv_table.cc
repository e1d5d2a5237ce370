#include "views/csv_table.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::views {

CsvTable::CsvTable(std::string_view schema, const Provenance& provenance)
    : schema_(schema), stamp_(StampText(provenance)) {}

CsvTable::CsvTable(std::string_view schema, const Provenance& provenance, std::string_view names)
    : CsvTable(schema, provenance) {
  text_.append(names).append(",");
  EndRow();
}

CsvTable& CsvTable::Field(std::string_view text) {
  const std::string clean = Printable(text);
  if (clean.find_first_of(",\"\n\r") == std::string::npos) {
    text_ += clean;
  } else {
    text_ += '"';
    for (const char c : clean) {
      if (c == '"') text_ += '"';
      text_ += c;
    }
    text_ += '"';
  }
  text_ += ',';
  return *this;
}

CsvTable& CsvTable::Field(double number) {
  return Field(std::isfinite(number) ? fmt::format("{}", number) : "");
}

void CsvTable::EndRow() {
  Field(rows_ == 0 ? "schema" : schema_);
  Field(rows_ == 0 ? "provenance" : rows_ == 1 ? stamp_ : "");
  text_.back() = '\n';
  ++rows_;
}

std::string CsvTable::Take() { return std::move(text_); }

}  // namespace beryl::views
