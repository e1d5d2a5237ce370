#include "views/views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {

Result<bool> CheckColumns(const TreeColumns& tree, const ViewOptions& options) {
  for (const std::string& name : options.columns) {
    if (!ChosenColumns(tree, {name}).empty()) continue;
    std::vector<std::string_view> names;
    for (const Column& column : tree.columns) {
      if (column.of == Column::Of::kAll) names.push_back(column.name);
    }
    return MisuseError(fmt::format("--columns '{}': there is no such column; there are {}",
                                   Printable(name), fmt::join(names, ", ")));
  }
  return true;
}

std::string Write(const AccountReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return WriteJson(report, options);
  if (format == Format::kCsv) return WriteCsv(report, options);
  if (format == Format::kHtml) return WriteHtml(report, options);
  if (format == Format::kSummary) return WriteHead(report, options) + WriteBooks(report, options);
  return WriteTable(report, options);
}

}  // namespace beryl::views
