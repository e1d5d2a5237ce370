#include "views/views.h"

#include "views/writers.h"

namespace beryl::views {

std::string Write(const AccountReport& report, Format format, const ViewOptions& options) {
  switch (format) {
    case Format::kJson:
      return WriteJson(report, options);
    case Format::kCsv:
      return WriteCsv(report, options);
    case Format::kHtml:
      return WriteHtml(report, options);
    case Format::kSummary:
      return WriteSummary(report, options);
    case Format::kSvg:
    case Format::kTable:
      break;
  }
  return WriteTable(report, options);
}

}  // namespace beryl::views
