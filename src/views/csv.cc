#include <algorithm>

#include <fmt/format.h>

#include "views/csv_table.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {

std::string WriteCsv(const AccountReport& report, const ViewOptions& options) {
  // Whoever says what to show of the tree, or gives it a model's names, wants the tree.
  if (options.depth || options.level || !options.columns.empty() || report.alignment) {
    return TreeCsv(report.tree, options, {}, {}, CsvTable("beryl.account/1", report.provenance));
  }
  CsvTable csv("beryl.account/1", report.provenance,
               "name,device,phase,type,energy_j,seconds,power_w,count,mean_step_j,deviation_step_j,"
               "source");
  size_t left =
      options.top ? static_cast<size_t>(std::max(0, *options.top)) : report.operations.size();
  for (const OperationRow& row : report.operations) {
    if (left-- == 0) break;
    csv.Row(row.name, row.device, PhaseName(row.phase), row.type, row.energy, row.time, row.power,
            row.count, row.mean_step_energy, row.deviation_step_energy,
            row.energy ? OriginName(row.origin) : "unknown");
  }
  return csv.Take();
}

}  // namespace beryl::views
