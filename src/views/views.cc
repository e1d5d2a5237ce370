#include "views/views.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {

namespace {

#define BERYL_FORMAT_NAME(id, name) {name, Format::id},
constexpr std::pair<std::string_view, Format> kNames[] = {BERYL_FORMATS(BERYL_FORMAT_NAME)};
#undef BERYL_FORMAT_NAME

}  // namespace

std::vector<std::pair<std::string, Format>> Formats::Named() const {
  std::vector<std::pair<std::string, Format>> named;
  for (const auto& [name, format] : kNames) {
    if (Has(format)) named.emplace_back(name, format);
  }
  return named;
}

std::string_view FormatName(Format format) { return kNames[static_cast<size_t>(format)].first; }

bool HasNotes(Format format) {
  return Formats{Format::kTable, Format::kJson, Format::kHtml}.Has(format);
}

Status CheckFormat(Formats has, Format format, std::string_view what) {
  if (has.Has(format)) return {};
  std::vector<std::string> names;
  for (const auto& [name, one] : has.Named()) names.push_back(name);
  return MisuseError(fmt::format("format {}: {} has no such format; it has {}", FormatName(format),
                                 what, fmt::join(names, ", ")),
                     {"format"});
}

Status CheckColumns(const TreeColumns& tree, const ViewOptions& options) {
  for (const std::string& name : options.columns) {
    if (!ChosenColumns(tree, {name}).empty()) continue;
    std::vector<std::string_view> names;
    for (const Column& column : tree.columns) {
      if (column.of == Column::Of::kAll) names.push_back(column.name);
    }
    return MisuseError(fmt::format("column '{}': no such column; there are {}", Printable(name),
                                   fmt::join(names, ", ")),
                       {"columns"});
  }
  return {};
}

Status CheckLabels(const TreeColumns& tree) {
  // What JSON and CSV call what every node has.
  std::set<std::string> taken = {"schema", "columns", "depth",  "path",  "name",
                                 "type",   "level",   "layers", "range", "children",
                                 "phases", "devices", "ranks"};
  for (const TextColumn& column : tree.texts) taken.insert(column.key);
  for (const TreeField& field : FieldsOf(ChosenColumns(tree, {}))) {
    if (taken.insert(field.key).second) continue;
    return MisuseError(
        fmt::format(
            "the column '{}' would be written as '{}', which is the name of something else; "
            "choose another label",
            Printable(field.column->name), Printable(field.key)),
        {"labels"});
  }
  return {};
}

std::string Write(const AccountReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return WriteJson(report, options);
  if (format == Format::kCsv) return WriteCsv(report, options);
  if (format == Format::kHtml) return WriteHtml(report, options);
  if (format == Format::kSummary) return WriteSummary(report, options);
  return WriteTable(report, options);
}

}  // namespace beryl::views
