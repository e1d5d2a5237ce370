#include "learn/methods/datasheet.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/sheet.h"
#include "base/text.h"
#include "learn/embedded.h"
#include "learn/methods/method.h"
#include "types/dataset.h"

namespace beryl::learn {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

// Figures in the order of the table, after name, device and kind.
struct Figure {
  std::string_view name;
  double unit;
};
constexpr std::array<Figure, 11> kFigures = {{{"float32_tflops", kTera},
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
// The columns with sources, and the figure each one supports.
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
  for (const Figure& column : kFigures) names.push_back(column.name);
  for (const SourceColumn& column : kSources) names.push_back(column.name);
  return names;
}

// Why the row is refused; empty if it is accepted.
std::string ReadRow(const Sheet::Row& row, NamedDatasheet& into) {
  Datasheet& sheet = into.sheet;
  into.name = row.fields[0];
  sheet.device = row.fields[1];
  if (into.name.empty()) return "name is empty";
  if (row.fields[2] != "gpu" && row.fields[2] != "cpu") return "kind must be gpu or cpu";
  sheet.gpu = row.fields[2] == "gpu";
  std::vector<double*> places;
  for (double& rate : sheet.matmul_flops) places.push_back(&rate);
  places.insert(places.end(), {&sheet.vector_flops, &sheet.bandwidth, &sheet.link_bandwidth,
                               &sheet.memory, &sheet.idle_power.value, &sheet.board_power.value});
  for (size_t i = 0; i < kFigures.size(); ++i) {
    const std::string& field = row.fields[kFirstFigure + i];
    const auto number = ParseNumber(field);
    if (!field.empty() && !number) {
      return fmt::format("{} must be a number, not '{}'", kFigures[i].name, Printable(field));
    }
    *places[i] = number ? *number * kFigures[i].unit : kUnknown;
  }
  if (std::isnan(sheet.link_bandwidth)) sheet.link_bandwidth = 0;
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

template <typename Rates>
struct MatmulRates {
  Rates by_dtype;
};

}  // namespace

std::string FaultOf(const Datasheet& sheet) {
  if (sheet.device.empty()) return "device is empty";
  for (size_t i = 0; i < sheet.matmul_flops.size(); ++i) {
    const bool needed = i == static_cast<size_t>(Dtype::kFloat32);
    if ((needed || !std::isnan(sheet.matmul_flops[i])) && !IsAbove0(sheet.matmul_flops[i])) {
      return fmt::format("matmul_flops.{} must be above 0", DtypeName(static_cast<Dtype>(i)));
    }
  }
  if (!IsAbove0(sheet.vector_flops)) return "vector_flops must be above 0";
  if (!IsAbove0(sheet.bandwidth)) return "bandwidth must be above 0";
  if (!std::isfinite(sheet.link_bandwidth) || sheet.link_bandwidth < 0) {
    return "link_bandwidth must be 0 or more";
  }
  if (!std::isnan(sheet.memory) && !IsAbove0(sheet.memory)) return "memory must be above 0";
  if (!IsAbove0(sheet.board_power.value)) return "board_w must be above 0";
  if (!(sheet.idle_power >= Watts{} && sheet.idle_power <= sheet.board_power)) {
    return "idle_w must be from 0 to board_w";
  }
  return "";
}

Result<std::vector<NamedDatasheet>> ReadDatasheets(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> columns = ColumnNames();
  auto table = TRY(ReadSheet(std::string(text), name, columns, columns.size()));
  std::vector<NamedDatasheet> sheets;
  for (const Sheet::Row& row : table.rows) {
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

template <typename Rates>
void Members(auto& io, const MatmulRates<Rates>& rates) {
  for (size_t i = 0; i < rates.by_dtype.size(); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    io(DtypeName(dtype), rates.by_dtype[i], dtype == Dtype::kFloat32);
  }
  io.NothingElse("is not a known number type");
}

template <As<Datasheet> Sheet>
void Members(auto& io, Sheet& sheet) {
  io("device", sheet.device);
  io("gpu", sheet.gpu);
  io("matmul_flops", MatmulRates<decltype((sheet.matmul_flops))>{sheet.matmul_flops});
  io("vector_flops", sheet.vector_flops);
  io("bandwidth", sheet.bandwidth);
  io("link_bandwidth", sheet.link_bandwidth, false);
  io("memory", sheet.memory, false);
  io("idle_w", sheet.idle_power);
  io("board_w", sheet.board_power);
  io("sources", sheet.sources, false);
}

void Read(MemberReader& in, json::Value value, const std::string& path, Datasheet& into) {
  into = Datasheet{};
  into.matmul_flops.fill(kUnknown);
  into.memory = kUnknown;
  ReadObject(in, value, path, into);
  const std::string why = FaultOf(into);
  const size_t space = why.find(' ');
  if (!why.empty()) in.Fail(path + "." + why.substr(0, space), why.substr(space + 1));
}
void Write(MemberWriter& out, const Datasheet& sheet) { WriteObject(out, sheet); }

namespace {

Status Check(FeatureSet, const std::vector<Feature>&) {
  return MisuseError(
      "a datasheet is written, not learned: it cannot be trained or evaluated; choose "
      "another method, such as law",
      {"method"});
}

Status Fit(const FitInput&, EnergyModel&) { return Check({}, {}); }

std::vector<double> Predict(const EnergyModel&, const Measurements& all, const ModelChoice&,
                            std::vector<Uncertainty>*) {
  return std::vector<double>(all.nodes.size(), kUnknown);
}

struct Part {
  void operator()(auto& io, auto& model) const { io("datasheet", LearnedAs<Datasheet>(model)); }
};

}  // namespace

const MethodSteps kDatasheetSteps = {Check, Fit, Predict, ReadPart<Part>, WritePart<Part>};

}  // namespace beryl::learn
