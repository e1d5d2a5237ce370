#include "learn/described_model_file.h"

#include "learn/energy_model_file.h"

namespace beryl::learn {
namespace {

// Corrections take the cube of this to get ready.
constexpr size_t kMostPoints = 2000;
constexpr std::string_view kFrom0 = "has to be a number from 0 on";

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
  require(numbers.size() == 6, "has to be a list of lists of six numbers");
  require(points.size() < kMostPoints, fmt::format("there are more than {} points", kMostPoints));
  if (!in.ok()) return;
  Point point{std::move(type), {}, numbers[4], numbers[5]};
  std::copy_n(numbers.begin(), point.sizes.size(), point.sizes.begin());
  for (const double size : point.sizes) require(size >= 1, "has a size below 1");
  require(std::abs(point.correction) < 100, "has a correction beyond all bounds");
  require(point.variance > 0, "has a variance that is not above 0");
  points.push_back(std::move(point));
}

}  // namespace

// By type, a list of lists of sizes, correction and variance.
void Read(MemberReader& in, json::Value value, const std::string& path, std::vector<Point>& into) {
  in.Walk(value, path, [&](const std::string& type, json::Value list) {
    const std::string at = path + "." + type;
    const bool sound = list.ForEachElement([&](json::Value element) {
      if (in.ok()) ReadPoint(in, element, at, type, into);
    });
    if (!sound) in.Fail(at, "has to be a list of lists of six numbers");
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
    return in.Fail(path, "has to be three numbers: a kernel, a flop, a byte");
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
  io.Require(costs.overlap > 0 && costs.overlap <= 1, "overlap", "has to be from 0 to 1");
}

void Members(auto& io, As<DescribedModel> auto& described) {
  io("noise_factors", ByName(described.noise_factors, DataLevelName, "has to be from 0 on"));
  io("energy", described.energy);
  io("seconds", described.seconds, false);
}

void Read(MemberReader& in, json::Value value, const std::string& path, DescribedModel& into) {
  ReadObject(in, value, path, into);
}
void Write(MemberWriter& out, const DescribedModel& described) { WriteObject(out, described); }

}  // namespace beryl::learn
