// CSV out, for any reader. Text is quoted where it has to be; what is not known is an empty field.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "types/provenance.h"

namespace beryl::views {

// The first row is that of the names. Behind the fields that are given, rows end with two more:
// the schema, and the provenance of all of it, which stands in the first row below the names.
class CsvTable {
 public:
  CsvTable(std::string_view schema, const Provenance& provenance);
  // `names`: of all columns, joined by commas.
  CsvTable(std::string_view schema, const Provenance& provenance, std::string_view names);

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
  size_t rows_ = 0;
  std::string text_;
};

}  // namespace beryl::views
