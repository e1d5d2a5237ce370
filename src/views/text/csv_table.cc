#include "views/text/csv_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "views/text/notes.h"
#include "views/views.h"

namespace beryl::views {
namespace {

constexpr char kGuard = '\'';
constexpr std::string_view kRun = "=+-@";

// Whether a spreadsheet would run it, or RawCsv would take it for something with a guard.
bool NeedsGuard(std::string_view cell) {
  cell.remove_prefix(std::min(cell.find_first_not_of(kGuard), cell.size()));
  // A dash alone says that there is nothing.
  return cell.size() > 1 && kRun.find(cell.front()) != std::string_view::npos && !ParseNumber(cell);
}

}  // namespace

CsvTable::CsvTable(std::string_view schema, const Provenance& provenance)
    : schema_(schema),
      stamp_(StampLine(provenance)),
      is_incomplete_(!provenance.incomplete.empty()) {}

CsvTable::CsvTable(std::string_view schema, const Provenance& provenance, std::string_view names)
    : CsvTable(schema, provenance) {
  text_.append(names).append(",");
  fields_ = static_cast<size_t>(std::count(names.begin(), names.end(), ',')) + 1;
  EndRow();
}

CsvTable& CsvTable::Field(std::string_view text) {
  std::string clean = Printable(text);
  if (NeedsGuard(clean)) clean.insert(0, 1, kGuard);
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
  ++fields_;
  return *this;
}

CsvTable& CsvTable::Field(double number) {
  return Field(std::isfinite(number) ? fmt::format("{}", number) : "");
}

void CsvTable::EndRow() {
  if (rows_ == 0) columns_ = fields_;
  Field(rows_ == 0 ? "schema" : schema_);
  Field(rows_ == 0 ? "provenance" : rows_ == 1 ? stamp_ : "");
  text_.back() = '\n';
  fields_ = 0;
  ++rows_;
}

std::string CsvTable::Take() {
  if (rows_ == 1 && is_incomplete_) {
    text_.append(columns_, ',');
    EndRow();
  }
  return std::move(text_);
}

std::string RawCsv(std::string_view csv) {
  std::string raw;
  while (!csv.empty()) {
    const bool quoted = csv.front() == '"';
    // The comma or line end behind the cell: of doubled quotes, the first closes and the second
    // opens again.
    size_t end = 0;
    for (bool open = false; end < csv.size(); ++end) {
      if (csv[end] == '"') open = !open;
      if (!open && (csv[end] == ',' || csv[end] == '\n')) break;
    }
    const std::string_view cell = csv.substr(quoted ? 1 : 0, end - (quoted ? 2 : 0));
    const bool guarded = cell.starts_with(kGuard) && NeedsGuard(cell.substr(1));
    const size_t behind = std::min(end + 1, csv.size());
    if (quoted && guarded) raw += '"';
    raw += csv.substr(guarded ? (quoted ? 2 : 1) : 0, behind - (guarded ? (quoted ? 2 : 1) : 0));
    csv.remove_prefix(behind);
  }
  return raw;
}

}  // namespace beryl::views
