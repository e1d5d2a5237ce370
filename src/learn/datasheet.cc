#include "learn/datasheet.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/embedded.h"
#include "learn/sheet.h"
#include "types/dataset.h"

namespace beryl::learn {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

// Figures in the order of the table, after name, device and kind.
struct Column {
  std::string_view name;
  double unit;
};
constexpr std::array<Column, 11> kFigures = {{{"float32_tflops", kTera},
                                              {"float16_tflops", kTera},
                                              {"bfloat16_tflops", kTera},
                                              {"int8_tflops", kTera},
                                              {"int4_tflops", kTera},
                                              {"vector_tflops", kTera},
                                              {"bandwidth_gb_s", kGiga},
                                              {"link_gb_s", kGiga},
                                              {"memory_gb", kGiga},
                                              {"idle_w", 1},
                                              {"board_w", 1}}};
// And what each source is of.
struct SourceColumn {
  std::string_view name;
  std::string_view of;
};
constexpr std::array<SourceColumn, 5> kSources = {{{"compute_source", "matmul_flops, vector_flops"},
                                                   {"memory_source", "bandwidth, memory"},
                                                   {"link_source", "link_bandwidth"},
                                                   {"idle_source", "idle_w"},
                                                   {"board_source", "board_w"}}};

constexpr size_t kFirstFigure = 3;
constexpr size_t kFirstSource = kFirstFigure + kFigures.size();

std::vector<std::string_view> ColumnNames() {
  std::vector<std::string_view> names = {"name", "device", "kind"};
  for (const Column& column : kFigures) names.push_back(column.name);
  for (const SourceColumn& column : kSources) names.push_back(column.name);
  return names;
}

// Why the row is refused; empty: it is not.
std::string ReadRow(const Sheet::Row& row, NamedDatasheet& into) {
  Datasheet& sheet = into.sheet;
  into.name = row.fields[0];
  sheet.device = row.fields[1];
  if (into.name.empty()) return "name is empty";
  if (row.fields[2] != "gpu" && row.fields[2] != "cpu") return "kind has to be gpu or cpu";
  sheet.gpu = row.fields[2] == "gpu";
  std::array<double, kFigures.size()> figures;
  for (size_t i = 0; i < figures.size(); ++i) {
    const std::string& field = row.fields[kFirstFigure + i];
    const auto number = ParseNumber(field);
    if (!field.empty() && !number) {
      return fmt::format("{} has to be a number, not '{}'", kFigures[i].name, Printable(field));
    }
    figures[i] = number ? *number * kFigures[i].unit : kUnknown;
  }
  size_t at = 0;
  for (double& rate : sheet.matmul_flops) rate = figures[at++];
  sheet.vector_flops = figures[at++];
  sheet.bandwidth = figures[at++];
  sheet.link_bandwidth = std::isnan(figures[at]) ? 0 : figures[at];
  ++at;
  sheet.memory = figures[at++];
  sheet.idle_power = {figures[at++]};
  sheet.board_power = {figures[at++]};
  for (size_t i = 0; i < kSources.size(); ++i) {
    sheet.sources.push_back(fmt::format("{}: {}", kSources[i].of, row.fields[kFirstSource + i]));
  }
  return FaultOf(sheet);
}

const std::vector<NamedDatasheet>& Bundled() {
  static const std::vector<NamedDatasheet> kBundled = [] {
    auto sheets = ReadDatasheets(embedded::kDatasheets, "datasheets.csv");
    return sheets ? *std::move(sheets) : std::vector<NamedDatasheet>();
  }();
  return kBundled;
}

bool IsAbove0(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

std::string FaultOf(const Datasheet& sheet) {
  if (sheet.device.empty()) return "device is empty";
  for (size_t i = 0; i < sheet.matmul_flops.size(); ++i) {
    const bool needed = i == static_cast<size_t>(Dtype::kFloat32);
    if ((needed || !std::isnan(sheet.matmul_flops[i])) && !IsAbove0(sheet.matmul_flops[i])) {
      return fmt::format("matmul_flops.{} has to be above 0", DtypeName(static_cast<Dtype>(i)));
    }
  }
  if (!IsAbove0(sheet.vector_flops)) return "vector_flops has to be above 0";
  if (!IsAbove0(sheet.bandwidth)) return "bandwidth has to be above 0";
  if (!std::isfinite(sheet.link_bandwidth) || sheet.link_bandwidth < 0) {
    return "link_bandwidth has to be from 0";
  }
  if (!std::isnan(sheet.memory) && !IsAbove0(sheet.memory)) return "memory has to be above 0";
  if (!IsAbove0(sheet.board_power.value)) return "board_w has to be above 0";
  if (!(sheet.idle_power >= Watts{} && sheet.idle_power <= sheet.board_power)) {
    return "idle_w has to be from 0 to board_w";
  }
  return "";
}

Result<std::vector<NamedDatasheet>> ReadDatasheets(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> columns = ColumnNames();
  auto table = ReadSheet(std::string(text), name, columns, columns.size());
  if (!table) return table.error();
  std::vector<NamedDatasheet> sheets;
  for (const Sheet::Row& row : table->rows) {
    NamedDatasheet sheet;
    if (const std::string why = ReadRow(row, sheet); !why.empty()) {
      return InvalidError(
          fmt::format("{}:{}: {}: {}", Printable(name), row.line, Printable(row.fields[0]), why));
    }
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

std::vector<std::string> DatasheetNames() {
  std::vector<std::string> names;
  for (const NamedDatasheet& one : Bundled()) names.push_back(one.name);
  return names;
}

std::optional<Datasheet> FindDatasheet(std::string_view name) {
  for (const NamedDatasheet& one : Bundled()) {
    if (one.name == name) return one.sheet;
  }
  return std::nullopt;
}

void ReadDatasheet(json::Value value, MemberReader& in, Datasheet& sheet) {
  sheet = Datasheet{};
  sheet.matmul_flops.fill(kUnknown);
  sheet.memory = kUnknown;
  in.ReadObject(value, "datasheet",
                {"device", "gpu", "matmul_flops", "vector_flops", "bandwidth", "idle_w", "board_w"},
                [&](std::string_view name, const std::string& where, json::Value member) {
                  if (name == "device") in.Read(member, where, sheet.device);
                  if (name == "gpu") in.Read(member, where, sheet.gpu);
                  if (name == "vector_flops") in.Read(member, where, sheet.vector_flops);
                  if (name == "bandwidth") in.Read(member, where, sheet.bandwidth);
                  if (name == "link_bandwidth") in.Read(member, where, sheet.link_bandwidth);
                  if (name == "memory") in.Read(member, where, sheet.memory);
                  if (name == "idle_w") in.Read(member, where, sheet.idle_power.value);
                  if (name == "board_w") in.Read(member, where, sheet.board_power.value);
                  if (name == "sources") in.Read(member, where, sheet.sources);
                  if (name != "matmul_flops") return;
                  in.ReadObject(
                      member, where, {"float32"},
                      [&](std::string_view type, const std::string& path, json::Value rate) {
                        const auto dtype = ParseDtype(type);
                        if (!dtype) return in.Fail(path, "is no type of numbers that is known");
                        in.Read(rate, path, sheet.matmul_flops[static_cast<size_t>(*dtype)]);
                      });
                });
  if (!in.ok()) return;
  const std::string why = FaultOf(sheet);
  const size_t space = why.find(' ');
  if (!why.empty()) in.Fail("datasheet." + why.substr(0, space), why.substr(space + 1));
}

}  // namespace beryl::learn
