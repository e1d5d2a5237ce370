#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/writers.h"

namespace beryl::views {

std::string WriteCsv(const AccountReport& report, const ViewOptions& options) {
  std::string text =
      "name,device,phase,type,energy_j,seconds,power_w,count,mean_step_j,deviation_step_j,source,"
      "schema\n";
  size_t left =
      options.top ? static_cast<size_t>(std::max(0, *options.top)) : report.operations.size();
  for (const OperationRow& row : report.operations) {
    if (left-- == 0) break;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},beryl.account/1\n", CsvText(row.name),
                        CsvText(row.device), PhaseName(row.phase), CsvText(row.type),
                        CsvFigure(row.energy), row.time.value, CsvFigure(row.power), row.count,
                        CsvFigure(row.mean_step_energy), CsvFigure(row.deviation_step_energy),
                        row.energy ? OriginName(row.origin) : "unknown");
  }
  return text;
}

}  // namespace beryl::views
