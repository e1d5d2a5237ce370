// A small table in CSV with a header: a few lines of figures that a person maintains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beryl {

struct Sheet {
  struct Row {
    uint64_t line = 0;
    std::vector<std::string> fields;  // as many as requested; empty where the row has none
  };
  std::vector<Row> rows;
};

// Reads the columns with these names, in this order; fields may be quoted. The first `required`
// columns must be in the header; the others are empty if they are missing. Skips empty lines and
// lines that begin with #. `name` is for messages.
Result<Sheet> ReadSheet(std::string text, const std::string& name,
                        const std::vector<std::string_view>& columns, size_t required);

}  // namespace beryl
