// What readers of data sets have to say about them: one DataFinding for each reason, with how often
// and where it was first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/dataset.h"

namespace beryl::learn {

class FindingLog {
 public:
  // `reason` is a literal that says what was found and what was done about it. `what` and `value`
  // (as "flops" and "abc") are said of the first place only. `line` 0: the place is the whole file.
  void Count(const char* reason, const std::string& file, uint64_t line, std::string_view what = {},
             std::string_view value = {}, uint64_t count = 1);

  // In the order in which they first occurred; the log is empty afterwards.
  std::vector<DataFinding> Take();
  const std::vector<DataFinding>& findings() const { return findings_; }

 private:
  std::vector<DataFinding> findings_;
  std::vector<const char*> reasons_;  // of findings_
};

// "file:line: reason" of the first finding, for an error that has nothing else to go by; or empty.
std::string FirstReason(const FindingLog& log);

}  // namespace beryl::learn
