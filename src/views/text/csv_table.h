// Writes CSV. Text is quoted if needed; an unknown value is an empty field.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "types/provenance.h"

namespace beryl::views {

// The first row has the names. Every row ends with two more fields, the schema and the provenance;
// only the first row below the names has the provenance. A table without rows says of incomplete
// input in a row of its own, whose other fields are empty.
class CsvTable {
 public:
  CsvTable(std::string_view schema, const Provenance& provenance);
  // `names`: all columns, separated by commas.
  CsvTable(std::string_view schema, const Provenance& provenance, std::string_view names);

  // A text that a spreadsheet would run, because it starts with =, +, - or @ and is not a number,
  // gets an apostrophe in front, and so does one that has one there already: RawCsv undoes it.
  CsvTable& Field(std::string_view text);
  CsvTable& Field(const char* text) { return Field(std::string_view(text)); }
  CsvTable& Field(double number);
  CsvTable& Field(bool truth) { return Field(truth ? "true" : "false"); }
  CsvTable& Field(std::integral auto number) { return Field(std::to_string(number)); }
  template <typename Unit>
  CsvTable& Field(Scalar<Unit> quantity) {
    return Field(quantity.value);
  }
  template <typename T>
  CsvTable& Field(const std::optional<T>& value) {
    return value ? Field(*value) : Field("");
  }
  void EndRow();
  template <typename... Fields>
  void Row(const Fields&... fields) {
    (Field(fields), ...);
    EndRow();
  }

  std::string Take();

 private:
  std::string schema_;
  std::string stamp_;
  bool is_incomplete_;
  size_t fields_ = 0;   // of this row
  size_t columns_ = 0;  // without schema and provenance
  size_t rows_ = 0;
  std::string text_;
};

}  // namespace beryl::views
