// The costs of operations, which predict energy from descriptions alone.
#include "learn/methods/describe.h"

#include <cmath>

#include <fmt/format.h>

#include "learn/describe/operation_costs.h"
#include "learn/methods/method.h"

namespace beryl::learn {
namespace {

// Preparing corrections takes time cubic in this.
constexpr size_t kMostPoints = 2000;
constexpr std::string_view kFrom0 = "must be a number of 0 or more";

using Point = ShapeCorrection::Point;

std::string_view DeviceNameOf(size_t kind) { return DeviceKindName(static_cast<DeviceKind>(kind)); }
std::string_view HostNameOf(size_t kind) { return HostKindName(static_cast<HostKind>(kind)); }

void ReadPoint(MemberReader& in, json::Value value, const std::string& path, std::string type,
               std::vector<Point>& points) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) in.Fail(path, what);
  };
  std::vector<double> numbers;
  Read(in, value, path, numbers);
  require(numbers.size() == 6, "must be a list of lists of six numbers");
  require(points.size() < kMostPoints, fmt::format("there are more than {} points", kMostPoints));
  if (!in.ok()) return;
  Point point{std::move(type), {}, numbers[4], numbers[5]};
  std::copy_n(numbers.begin(), point.sizes.size(), point.sizes.begin());
  for (const double size : point.sizes) require(size >= 1, "has a size below 1");
  require(std::abs(point.correction) < 100, "has a correction that is out of range");
  require(point.variance > 0, "has a variance that is not above 0");
  points.push_back(std::move(point));
}

}  // namespace

// A JSON object by type, each a list of lists: sizes, correction and variance.
void Read(MemberReader& in, json::Value value, const std::string& path, std::vector<Point>& into) {
  in.Walk(value, path, [&](const std::string& type, json::Value list) {
    const std::string at = path + "." + type;
    const bool sound = list.ForEachElement([&](json::Value element) {
      if (in.ok()) ReadPoint(in, element, at, type, into);
    });
    if (!sound) in.Fail(at, "must be a list of lists of six numbers");
  });
}
void Write(MemberWriter& out, const std::vector<Point>& points) {
  std::map<std::string, std::vector<std::vector<double>>> by_type;
  for (const auto& [type, sizes, correction, variance] : points) {
    std::vector<double>& numbers = by_type[type].emplace_back(sizes.begin(), sizes.end());
    numbers.insert(numbers.end(), {correction, variance});
  }
  Write(out, by_type);
}

void Read(MemberReader& in, json::Value value, const std::string& path, DeviceCost& into) {
  std::vector<double> numbers;
  Read(in, value, path, numbers);
  if (numbers.size() != 3) {
    return in.Fail(path, "must be three numbers: a kernel, a flop, a byte");
  }
  for (const double number : numbers) {
    if (!(number >= 0)) in.Fail(path, "has a number below 0");
  }
  into = {numbers[0], numbers[1], numbers[2]};
}
void Write(MemberWriter& out, const DeviceCost& cost) {
  Write(out, std::vector<double>{cost.kernel, cost.flop, cost.byte});
}

void Members(auto& io, As<KindCosts> auto& costs) {
  io("device", ByName(costs.device, DeviceNameOf));
  io("host", ByName(costs.host, HostNameOf, kFrom0));
}

void Members(auto& io, As<ShapeCorrection> auto& correction) {
  io("length", correction.length);
  io("spread", correction.spread);
  io("noise", correction.noise);
  io("points", correction.points);
  io.Require(correction.length > 0 && correction.spread > 0 && correction.noise > 0, "",
             "needs length, spread and noise above 0");
}
bool IsThere(const MemberWriter&, const ShapeCorrection& of) { return !of.points.empty(); }

void Members(auto& io, As<OperationCosts> auto& costs) {
  io("overlap", costs.overlap);
  io("host_jitter", costs.host_jitter, false);
  io("unmeasured_spread", costs.unmeasured_spread, false);
  io("alone", costs.alone);
  io("within", costs.within);
  io("group_factors", ByName(costs.group_factors, DeviceNameOf, kFrom0));
  io("corrections", ByName(costs.corrections, DeviceNameOf), false);
  io.Require(costs.host_jitter >= 0, "host_jitter", kFrom0);
  io.Require(costs.unmeasured_spread >= 0, "unmeasured_spread", kFrom0);
  io.Require(costs.overlap > 0 && costs.overlap <= 1, "overlap", "must be from 0 to 1");
}

void Members(auto& io, As<DescribedModel> auto& described) {
  io("noise_factors", ByName(described.noise_factors, DataLevelName, "must be 0 or more"));
  io("energy", described.energy);
  io("seconds", described.seconds, false);
}

void Read(MemberReader& in, json::Value value, const std::string& path, DescribedModel& into) {
  ReadObject(in, value, path, into);
}
void Write(MemberWriter& out, const DescribedModel& described) { WriteObject(out, described); }

namespace {

// Rows whose nodes are described, with their measured values.
std::vector<CostRow> DescribedRows(const Measurements& all, const ModelChoice& models,
                                   bool seconds) {
  std::vector<CostRow> rows;
  for (const MeasuredRow& row : all.rows) {
    const double value = seconds ? At(row.features, Feature::kSeconds) : row.measured;
    if (!models[row.model] || row.operations == kUndescribed || !(row.measured > 0) ||
        !(value > 0)) {
      continue;
    }
    rows.push_back({&all.operations[row.operations], value});
  }
  return rows;
}

Status Fit(const FitInput& input, EnergyModel& model) {
  constexpr size_t kFewest = 40;
  const auto& [all, models, known, options] = input;
  const std::vector<CostRow> rows = DescribedRows(all, models, false);
  if (rows.size() < kFewest) {
    return InvalidError(
        fmt::format("method describe learns from models of the catalog (`beryl models` lists them) "
                    "and needs {} measurements of them; there are {}",
                    kFewest, rows.size()));
  }
  auto& described = model.learned.emplace<DescribedModel>();
  described.energy = FitCosts(rows, all.primitives);
  if (options.seconds) {
    const std::vector<CostRow> times = DescribedRows(all, models, true);
    if (times.size() >= kFewest) described.seconds = FitCosts(times, all.primitives);
  }
  return {};
}

std::vector<double> Predict(const EnergyModel& model, const Measurements& all,
                            const ModelChoice& models, std::vector<Uncertainty>* uncertainties) {
  const PreparedCosts prepared(std::get<DescribedModel>(model.learned).energy);
  const CostModel costs(prepared, all.primitives);
  std::vector<Uncertainty> by_row(all.rows.size());
  std::vector<double> joules = ByNode(all, models, [&](const MeasuredRow& row) {
    if (row.operations == kUndescribed) return kUnknown;
    const CostEstimate estimate = costs.Alone(all.operations[row.operations]);
    by_row[static_cast<size_t>(&row - all.rows.data())] = {estimate.noise, estimate.doubt};
    return estimate.value > 0 ? estimate.value : kUnknown;
  });
  if (uncertainties != nullptr) {
    for (const MeasuredNode& node : all.nodes) uncertainties->push_back(by_row[node.row]);
  }
  return joules;
}

struct Part {
  void operator()(auto& io, auto& model) const {
    io("described", LearnedAs<DescribedModel>(model));
  }
};

}  // namespace

const MethodSteps kDescribeSteps = {nullptr, Fit, Predict, ReadPart<Part>, WritePart<Part>};

}  // namespace beryl::learn
