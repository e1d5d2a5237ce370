#include "learn/described_model_file.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "types/dataset.h"

namespace beryl::learn {
namespace {

// Corrections take the cube of this to get ready.
constexpr size_t kMostPoints = 2000;

using Point = ShapeCorrection::Point;

void WriteCosts(JsonWriter& json, std::string_view name, const KindCosts& costs) {
  json.Key(name).BeginObject();
  json.Key("device").BeginObject();
  for (size_t kind = 0; kind < kDeviceKindCount; ++kind) {
    const DeviceCost& cost = costs.device[kind];
    json.Key(DeviceKindName(static_cast<DeviceKind>(kind))).BeginArray();
    json.Value(cost.kernel).Value(cost.flop).Value(cost.byte).End();
  }
  json.End().Key("host").BeginObject();
  for (size_t kind = 0; kind < kHostKindCount; ++kind) {
    json.Member(HostKindName(static_cast<HostKind>(kind)), costs.host[kind]);
  }
  json.End().End();
}

void WriteCorrection(JsonWriter& json, const ShapeCorrection& correction) {
  json.BeginObject();
  json.Member("length", correction.length).Member("spread", correction.spread);
  json.Member("noise", correction.noise).Key("points").BeginObject();
  std::map<std::string, std::vector<const Point*>> by_type;
  for (const Point& point : correction.points) by_type[point.type].push_back(&point);
  for (const auto& [type, points] : by_type) {
    json.Key(type).BeginArray();
    for (const Point* point : points) {
      json.BeginArray();
      for (const double size : point->sizes) json.Value(size);
      json.Value(point->correction).Value(point->variance).End();
    }
    json.End();
  }
  json.End().End();
}

void WriteOperationCosts(JsonWriter& json, std::string_view name, const OperationCosts& costs) {
  json.Key(name).BeginObject();
  json.Member("overlap", costs.overlap).Member("host_jitter", costs.host_jitter);
  json.Member("unmeasured_spread", costs.unmeasured_spread);
  WriteCosts(json, "alone", costs.alone);
  WriteCosts(json, "within", costs.within);
  json.Key("group_factors").BeginObject();
  for (size_t group = 0; group < kPrimitiveGroups; ++group) {
    json.Member(DeviceKindName(static_cast<DeviceKind>(group)), costs.group_factors[group]);
  }
  json.End().Key("corrections").BeginObject();
  for (size_t group = 0; group < kPrimitiveGroups; ++group) {
    if (costs.corrections[group].points.empty()) continue;
    json.Key(DeviceKindName(static_cast<DeviceKind>(group)));
    WriteCorrection(json, costs.corrections[group]);
  }
  json.End().End();
}

class CostReader {
 public:
  explicit CostReader(MemberReader& in) : in_(in) {}

  void Read(json::Value value, const std::string& path, OperationCosts& costs) {
    in_.ReadObject(value, path, {"overlap", "alone", "within", "group_factors"},
                   [&](std::string_view name, const std::string& at, json::Value member) {
                     ReadMember(name, at, member, costs);
                   });
    Require(costs.overlap > 0 && costs.overlap <= 1, path + ".overlap", "has to be from 0 to 1");
  }

 private:
  void Require(bool holds, const std::string& path, std::string_view what) {
    if (!holds) in_.Fail(path, what);
  }

  void ReadMember(std::string_view name, const std::string& path, json::Value value,
                  OperationCosts& costs) {
    if (name == "overlap") {
      in_.Read(value, path, costs.overlap);
    } else if (name == "host_jitter") {
      ReadCost(value, path, costs.host_jitter);
    } else if (name == "unmeasured_spread") {
      ReadCost(value, path, costs.unmeasured_spread);
    } else if (name == "alone") {
      ReadKinds(value, path, costs.alone);
    } else if (name == "within") {
      ReadKinds(value, path, costs.within);
    } else if (name == "group_factors") {
      ReadByGroup(value, path, [&](size_t group, const std::string& at, json::Value factor) {
        ReadCost(factor, at, costs.group_factors[group]);
      });
    } else if (name == "corrections") {
      ReadByGroup(value, path, [&](size_t group, const std::string& at, json::Value correction) {
        ReadCorrection(correction, at, costs.corrections[group]);
      });
    }
  }

  void ReadCost(json::Value value, const std::string& path, double& into) {
    in_.Read(value, path, into);
    Require(into >= 0 && std::isfinite(into), path, "has to be a number from 0 on");
  }

  template <typename Visit>
  void ReadByGroup(json::Value value, const std::string& path, Visit&& visit) {
    in_.ReadObject(value, path, {},
                   [&](std::string_view name, const std::string& at, json::Value member) {
                     for (size_t group = 0; group < kPrimitiveGroups; ++group) {
                       if (DeviceKindName(static_cast<DeviceKind>(group)) == name) {
                         visit(group, at, member);
                       }
                     }
                   });
  }

  void ReadKinds(json::Value value, const std::string& path, KindCosts& costs) {
    in_.ReadObject(value, path, {"device", "host"},
                   [&](std::string_view part, const std::string& at, json::Value member) {
                     in_.ReadObject(
                         member, at, {},
                         [&](std::string_view name, const std::string& kind, json::Value cost) {
                           if (part == "device") ReadDevice(name, kind, cost, costs);
                           if (part == "host") ReadHost(name, kind, cost, costs);
                         });
                   });
  }

  void ReadDevice(std::string_view name, const std::string& path, json::Value value,
                  KindCosts& costs) {
    for (size_t kind = 0; kind < kDeviceKindCount; ++kind) {
      if (DeviceKindName(static_cast<DeviceKind>(kind)) != name) continue;
      std::vector<double> numbers;
      in_.Read(value, path, numbers);
      Require(numbers.size() == 3, path, "has to be three numbers: a kernel, a flop, a byte");
      if (numbers.size() != 3) return;
      for (const double number : numbers) Require(number >= 0, path, "has a number below 0");
      costs.device[kind] = {numbers[0], numbers[1], numbers[2]};
    }
  }

  void ReadHost(std::string_view name, const std::string& path, json::Value value,
                KindCosts& costs) {
    for (size_t kind = 0; kind < kHostKindCount; ++kind) {
      if (HostKindName(static_cast<HostKind>(kind)) == name)
        ReadCost(value, path, costs.host[kind]);
    }
  }

  void ReadCorrection(json::Value value, const std::string& path, ShapeCorrection& correction) {
    in_.ReadObject(value, path, {"length", "spread", "noise", "points"},
                   [&](std::string_view name, const std::string& at, json::Value member) {
                     if (name == "length") in_.Read(member, at, correction.length);
                     if (name == "spread") in_.Read(member, at, correction.spread);
                     if (name == "noise") in_.Read(member, at, correction.noise);
                     if (name == "points") ReadPoints(member, at, correction);
                   });
    Require(correction.length > 0 && correction.spread > 0 && correction.noise > 0, path,
            "needs length, spread and noise above 0");
  }

  void ReadPoints(json::Value value, const std::string& path, ShapeCorrection& correction) {
    in_.ReadObject(value, path, {},
                   [&](std::string_view type, const std::string& at, json::Value list) {
                     const bool sound = list.ForEachElement([&](json::Value element) {
                       if (in_.ok()) ReadPoint(element, at, type, correction);
                     });
                     Require(sound, at, "has to be a list of lists of six numbers");
                   });
  }

  void ReadPoint(json::Value value, const std::string& path, std::string_view type,
                 ShapeCorrection& correction) {
    std::vector<double> numbers;
    in_.Read(value, path, numbers);
    Require(numbers.size() == 6, path, "has to be a list of lists of six numbers");
    Require(correction.points.size() < kMostPoints, path,
            fmt::format("there are more than {} points", kMostPoints));
    if (!in_.ok()) return;
    Point point;
    point.type = type;
    for (size_t i = 0; i < point.sizes.size(); ++i) {
      point.sizes[i] = numbers[i];
      Require(numbers[i] >= 1, path, "has a size below 1");
    }
    point.correction = numbers[4];
    point.variance = numbers[5];
    Require(std::abs(point.correction) < 100, path, "has a correction beyond all bounds");
    Require(point.variance > 0, path, "has a variance that is not above 0");
    correction.points.push_back(std::move(point));
  }

  MemberReader& in_;
};

}  // namespace

void WriteDescribed(JsonWriter& json, const DescribedModel& described) {
  json.Key("described").BeginObject();
  json.Key("noise_factors").BeginObject();
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    json.Member(LevelName(kDataLevels[level]), described.noise_factors[level]);
  }
  json.End();
  WriteOperationCosts(json, "energy", described.energy);
  if (described.seconds) WriteOperationCosts(json, "seconds", *described.seconds);
  json.End();
}

void ReadDescribed(json::Value value, MemberReader& in, DescribedModel& described) {
  CostReader reader(in);
  in.ReadObject(value, "described", {"noise_factors", "energy"},
                [&](std::string_view name, const std::string& path, json::Value member) {
                  if (name == "energy") reader.Read(member, path, described.energy);
                  if (name == "seconds") reader.Read(member, path, described.seconds.emplace());
                  if (name != "noise_factors") return;
                  in.ReadObject(member, path, {},
                                [&](std::string_view level, const std::string& at, json::Value of) {
                                  for (size_t i = 0; i < kDataLevels.size(); ++i) {
                                    if (LevelName(kDataLevels[i]) != level) continue;
                                    in.Read(of, at, described.noise_factors[i]);
                                    if (!(described.noise_factors[i] >= 0)) {
                                      in.Fail(at, "has to be from 0 on");
                                    }
                                  }
                                });
                });
}

}  // namespace beryl::learn
