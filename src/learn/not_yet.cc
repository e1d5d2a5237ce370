// TO BE DELETED: stands in for what is being written elsewhere, so that commands link.
#include "learn/learn.h"

namespace beryl::learn {
Result<EnergyModel> ReadEnergyModel(std::string, const std::string& name) {
  EnergyModel model;
  model.name = name;
  return model;
}
std::vector<std::string> ProfileNames() { return {}; }
std::optional<EnergyModel> FindProfile(std::string_view) { return std::nullopt; }
// 2 % more than was measured.
std::vector<EnergyColumn> Predict(const EnergyModel&, const Dataset& data,
                                  std::vector<DataFinding>&) {
  std::vector<EnergyColumn> columns;
  for (const ModelRun& run : data.runs) {
    EnergyColumn column;
    for (double j : run.measured) {
      column.total.push_back(j * 1.02);
      column.low.push_back(j * 0.98);
      column.high.push_back(j * 1.06);
    }
    columns.push_back(column);
  }
  return columns;
}
}  // namespace beryl::learn
