#include "learn/finding_log.h"

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::learn {
namespace {

constexpr size_t kLongestValue = 80;

}  // namespace

void FindingLog::Count(const char* reason, const std::string& file, uint64_t line,
                       std::string_view what, std::string_view value, uint64_t count) {
  for (size_t i = 0; i < reasons_.size(); ++i) {
    if (std::string_view(reasons_[i]) == reason) {
      findings_[i].count += count;
      return;
    }
  }
  reasons_.push_back(reason);
  DataFinding& finding = findings_.emplace_back();
  finding.what = reason;
  if (!what.empty()) {
    const std::string shown =
        Ellipsize(Printable(value.substr(0, 4 * kLongestValue)), kLongestValue);
    finding.what += value.empty() ? fmt::format(" (first: {})", Printable(what))
                                  : fmt::format(" (first: {} '{}')", Printable(what), shown);
  }
  finding.count = count;
  finding.first = line == 0 ? file : fmt::format("{}:{}", file, line);
}

std::vector<DataFinding> FindingLog::Take() {
  reasons_.clear();
  return std::exchange(findings_, {});
}

std::string FirstReason(const FindingLog& log) {
  if (log.findings().empty()) return {};
  const DataFinding& finding = log.findings().front();
  return fmt::format("{}: {}", finding.first, finding.what);
}

}  // namespace beryl::learn
