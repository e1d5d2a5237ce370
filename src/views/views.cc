#include "views/views.h"

#include <set>

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

Result<bool> CheckLabels(const TreeColumns& tree) {
  // What JSON and CSV call what every node has.
  std::set<std::string> taken = {"schema", "columns", "depth",  "path",  "name",
                                 "type",   "level",   "layers", "range", "children",
                                 "phases", "devices", "ranks"};
  for (const TextColumn& column : tree.texts) taken.insert(column.key);
  for (const TreeField& field : FieldsOf(ChosenColumns(tree, {}))) {
    if (taken.insert(field.key).second) continue;
    return MisuseError(fmt::format(
        "--labels: the column '{}' would be written as '{}', which is the name of something else; "
        "choose another label",
        Printable(field.column->name), Printable(field.key)));
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
