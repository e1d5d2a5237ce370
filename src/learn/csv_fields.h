// Lines of a CSV file as fields, without copying: quoted fields are unquoted where they stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace beryl::learn {

using Fields = std::vector<std::string_view>;

// Walks lines that are not blank. A byte order mark, "\r\n" and a missing last line end are taken
// as they come. A quoted field ends on its line: a name with a line end in it is a damaged file,
// and a lost quote costs a line then, not the rest.
class CsvLines {
 public:
  // Changes `text`, and the fields are views into it.
  explicit CsvLines(std::string& text);

  // False: there is no further line.
  bool Next(Fields& fields);
  uint64_t line() const { return line_; }            // of the last Next, from 1
  bool well_formed() const { return well_formed_; }  // whether every quote was closed

 private:
  void SplitFields(char* at, char* end, Fields& fields);
  char* ReadQuoted(char* at, char* end, Fields& fields);

  char* at_;
  char* end_;
  uint64_t line_ = 0;
  bool well_formed_ = true;
};

}  // namespace beryl::learn
