#include <algorithm>

#include "views/csv_table.h"
#include "views/writers.h"

namespace beryl::views {

std::string WriteCsv(const AccountReport& report, const ViewOptions& options) {
  CsvTable csv("beryl.account/1", report.provenance,
               "name,device,phase,type,energy_j,seconds,power_w,count,mean_step_j,deviation_step_j,"
               "source");
  size_t left =
      options.top ? static_cast<size_t>(std::max(0, *options.top)) : report.operations.size();
  for (const OperationRow& row : report.operations) {
    if (left-- == 0) break;
    csv.Row(row.name, row.device, PhaseName(row.phase), row.type, row.energy_j, row.seconds,
            row.power_w, row.count, row.mean_step_j, row.deviation_step_j,
            row.energy_j ? OriginName(row.origin) : "unknown");
  }
  return csv.Take();
}

}  // namespace beryl::views
