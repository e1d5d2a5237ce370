// A small table in CSV with a header: figures that a person keeps, of a few lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beryl::learn {

struct Sheet {
  struct Row {
    uint64_t line = 0;
    std::vector<std::string> fields;  // as many as asked for; empty where the row has none
  };
  std::vector<Row> rows;
};

// Reads the columns of these names, in this order; fields may be quoted. The first `required` of
// them must be in the header, the others are empty where they are not. Empty lines and lines that
// begin with # are passed over. `name` is for messages.
Result<Sheet> ReadSheet(std::string text, const std::string& name,
                        const std::vector<std::string_view>& columns, size_t required);

}  // namespace beryl::learn
