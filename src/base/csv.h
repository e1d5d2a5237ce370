// CSV in: lines as fields, from a stream of any length or from a text in memory.
//
// A byte order mark, "\r\n" and a missing last line end are taken as they come; blank lines are
// passed over, and blanks around a field are not part of it. A quoted field may have commas in it,
// and two quotes for one; it ends on its line: a name with a line end in it is a damaged file, and
// a lost quote costs a line then, not the rest.
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
// Where in the header a column stands; kNoCsvColumn: nowhere.
size_t FindCsvColumn(const CsvFields& header, std::string_view name);
// Empty: the row has no such column.
inline std::string_view CsvField(const CsvFields& row, size_t column) {
  return column < row.size() ? row[column] : std::string_view();
}

enum class CsvComments {
  kNone,
  kHash,  // lines that begin with # are passed over
};

class CsvReader {
 public:
  // Fields are valid until the next call of Next. `source` has to outlive the reader.
  CsvReader(ByteSource& source, CsvComments comments);
  // Fields are views into `text`, in which quoted ones are unquoted where they stand.
  CsvReader(std::string& text, CsvComments comments);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // False: there is no further line, or it cannot be read (see status).
  bool Next(CsvFields& fields);

  // Of the last line that Next gave.
  uint64_t line() const { return line_; }            // from 1
  uint64_t offset() const { return offset_; }        // of its first byte
  std::string_view text() const { return text_; }    // for messages
  bool well_formed() const { return well_formed_; }  // whether every quote was closed

  // An Error: the source could not be read to its end.
  const Result<bool>& status() const { return status_; }

 private:
  bool NextLine();
  bool Refill();
  void SkipByteOrderMark();
  void SplitFields(char* at, char* end, CsvFields& fields);
  char* ReadQuoted(char* at, char* end, CsvFields& fields);

  ByteSource* source_ = nullptr;  // null: all of the text is there
  std::string buffer_;
  char* begin_;          // of what is there
  char* at_;             // of the next line
  char* end_;            // of what is there
  uint64_t passed_ = 0;  // bytes before begin_
  char* line_begin_;     // of the last line
  char* line_end_;       // before its end
  std::string_view text_;
  const CsvComments comments_;
  uint64_t line_ = 0;
  uint64_t offset_ = 0;
  bool well_formed_ = true;
  Result<bool> status_ = true;
};

}  // namespace beryl
