#include "types/column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace beryl {

namespace {

constexpr std::array<std::string_view, 5> kOriginNames = {"measured", "estimated", "predicted",
                                                          "uncalibrated", "described"};

}  // namespace

std::string_view OriginName(Origin origin) { return kOriginNames[static_cast<size_t>(origin)]; }

std::optional<Origin> FindOrigin(std::string_view name) {
  const auto* const place = std::find(kOriginNames.begin(), kOriginNames.end(), name);
  if (place == kOriginNames.end()) return std::nullopt;
  return static_cast<Origin>(place - kOriginNames.begin());
}

const QuantityLook& LookOf(Quantity quantity) {
  static constexpr std::array<QuantityLook, 14> kLooks = {{
      {"energy", "J", "_j", true},
      {"time", "s", "_s", true},
      {"power", "W", "_w", false},
      {"flops", "FLOP", "", true},
      {"bytes", "B", "", true},
      {"parameters", "", "", true},
      {"count", "", "", true},
      {"ratio", "", "", false},
      {"share", "", "", false},
      {"off", "", "", false},
      {"flops_per_second", "FLOP/s", "", false},
      {"flops_per_joule", "FLOP/J", "", false},
      {"flops_per_byte", "FLOP/B", "", false},
      {"bytes_per_second", "B/s", "", false},
  }};
  return kLooks[static_cast<size_t>(quantity)];
}

const Column* TreeColumns::Find(std::string_view name) const {
  for (const Column& column : columns) {
    if (column.of == Column::Of::kAll && column.name == name) return &column;
  }
  return nullptr;
}

const TextColumn* TreeColumns::FindText(std::string_view key) const {
  for (const TextColumn& column : texts) {
    if (column.key == key) return &column;
  }
  return nullptr;
}

std::optional<Column> Regroup(const Column& column, const std::vector<NodeId>& node_of,
                              size_t nodes) {
  if (!LookOf(column.quantity).adds_up) return std::nullopt;
  Column grouped = column;
  const auto add = [&](const std::vector<double>& from, std::vector<double>& to) {
    if (from.empty()) return;
    to.assign(nodes, 0);
    std::vector<bool> any(nodes, false);
    for (NodeId node = 0; node < node_of.size(); ++node) {
      to[node_of[node]] += from[node];
      any[node_of[node]] = true;
    }
    for (size_t node = 0; node < nodes; ++node) {
      if (!any[node]) to[node] = kUnknown;
    }
  };
  add(column.self, grouped.self);
  add(column.total, grouped.total);
  add(column.low, grouped.low);
  add(column.high, grouped.high);
  grouped.deviation.clear();  // folded layers do not vary independently
  const auto mark = [&](const std::vector<bool>& from, std::vector<bool>& to) {
    if (from.empty()) return;
    to.assign(nodes, false);
    for (NodeId node = 0; node < node_of.size(); ++node) {
      if (from[node]) to[node_of[node]] = true;
    }
  };
  mark(column.estimated, grouped.estimated);
  mark(column.marked, grouped.marked);
  return grouped;
}

std::vector<double> Divide(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> quotients(above.size(), kUnknown);
  for (size_t node = 0; node < above.size() && node < below.size(); ++node) {
    if (below[node] != 0) quotients[node] = above[node] / below[node];
  }
  return quotients;
}

Column NamedColumn(std::string name, std::string key, std::string label, Quantity quantity) {
  Column column;
  column.prefix = name + "_";
  column.name = std::move(name);
  column.key = std::move(key);
  column.label = std::move(label);
  column.quantity = quantity;
  return column;
}

Column PredictedColumn(Origin origin, std::string by) {
  Column column = NamedColumn("predicted", "predicted_j", "predicted", Quantity::kEnergy);
  column.origin = origin;
  column.by = std::move(by);
  return column;
}

Column ShareOf(const Column& column, const std::string& name) {
  Column share = NamedColumn(name, name, "share", Quantity::kShare);
  share.origin = column.origin;
  share.by = column.by;
  share.total = Divide(column.total, std::vector<double>(column.total.size(), column.total[0]));
  return share;
}

}  // namespace beryl
