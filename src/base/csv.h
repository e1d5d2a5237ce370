// CSV input: splits lines into fields, from a stream of any length or from text in memory.
//
// Accepts a byte order mark, "\r\n" and a missing final line end. Skips blank lines and trims
// blanks around fields. A quoted field may contain commas, and doubled quotes for a quote, but no
// line end: a missing quote then costs one line, not the rest of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace beryl {

using CsvFields = std::vector<std::string_view>;

inline constexpr size_t kNoCsvColumn = ~size_t{0};
// Position of a column in the header; kNoCsvColumn if it is missing.
size_t FindCsvColumn(const CsvFields& header, std::string_view name);
// Empty if the row has no such column.
inline std::string_view CsvField(const CsvFields& row, size_t column) {
  return column < row.size() ? row[column] : std::string_view();
}

enum class CsvComments {
  kNone,
  kHash,  // skip lines that begin with #
};

class CsvReader {
 public:
  // Fields are valid until the next call of Next. `source` must outlive the reader.
  CsvReader(ByteSource& source, CsvComments comments);
  // Fields are views into `text`; quoted fields are unquoted in place.
  CsvReader(std::string& text, CsvComments comments);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // False at the end, or if the source cannot be read (see status).
  bool Next(CsvFields& fields);

  // About the last line that Next returned.
  uint64_t line() const { return line_; }            // from 1
  uint64_t offset() const { return offset_; }        // of its first byte
  std::string_view text() const { return text_; }    // for messages
  bool well_formed() const { return well_formed_; }  // every quote was closed

  // An Error if the source could not be read to its end.
  const Status& status() const { return status_; }

 private:
  bool NextLine();
  bool Refill();
  void SkipByteOrderMark();
  void SplitFields(char* at, char* end, CsvFields& fields);
  char* ReadQuoted(char* at, char* end, CsvFields& fields);

  ByteSource* source_ = nullptr;  // null: all of the text is in memory
  std::string buffer_;
  char* begin_;          // start of the buffered text
  char* at_;             // start of the next line
  char* end_;            // end of the buffered text
  uint64_t passed_ = 0;  // bytes before begin_
  char* line_begin_;     // start of the last line
  char* line_end_;       // its end, without the line end
  std::string_view text_;
  const CsvComments comments_;
  uint64_t line_ = 0;
  uint64_t offset_ = 0;
  bool well_formed_ = true;
  Status status_;
};

}  // namespace beryl
