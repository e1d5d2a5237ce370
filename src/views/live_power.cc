// The power of a machine for monitoring systems: Prometheus' text and OTLP's JSON, with the names
// of OpenTelemetry's semantic conventions for hardware. Unknown values are left out.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "views/views.h"

namespace beryl::views {
namespace {

std::string_view HardwareType(const PowerChannel& channel) {
  using Scope = ChannelScope;
  if (channel.scope == Scope::kPackage || channel.scope == Scope::kCore) return "cpu";
  if (channel.scope == Scope::kDram) return "memory";
  if (channel.scope == Scope::kGpu) return "gpu";
  return channel.name.find("battery") != std::string::npos ? "battery" : "enclosure";
}

using Labels = std::vector<std::pair<std::string_view, std::string>>;

// In OpenTelemetry's spelling.
Labels LabelsOf(const LiveChannel& live) {
  const PowerChannel& channel = live.channel;
  Labels labels = {{"hw.id", channel.name},
                   {"hw.type", std::string(HardwareType(channel))},
                   {"beryl.origin", std::string(OriginName(channel.meter.origin))}};
  if (!channel.meter.source.empty()) labels.emplace_back("beryl.source", channel.meter.source);
  // The channel that contains it: sums should use only channels without a parent.
  if (!live.within.empty()) labels.emplace_back("hw.parent", live.within);
  return labels;
}

Labels LabelsOf(const LiveSession& session, const LiveDevice& device) {
  return {{"session", std::to_string(session.id)},
          {"name", session.name},
          {"uid", std::to_string(session.uid)},
          {"hw.id", device.device},
          {"beryl.origin", std::string(OriginName(device.origin))}};
}

void AppendEscaped(std::string& text, std::string_view value) {
  for (const char letter : value) {
    if (letter == '\n') {
      text += "\\n";
      continue;
    }
    if (letter == '\\' || letter == '"') text += '\\';
    text += letter;
  }
}

class PrometheusPage {
 public:
  void Family(std::string_view name, std::string_view type, std::string_view unit,
              std::string_view help) {
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
    // Part of the OpenMetrics format; a comment elsewhere.
    if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
  }
  void Sample(std::string_view name, const Labels& labels, double value) {
    if (!std::isfinite(value)) return;
    text_ += name;
    char separator = '{';
    for (const auto& [key, label] : labels) {
      text_ += separator;
      for (const char letter : key) text_ += letter == '.' ? '_' : letter;
      text_ += "=\"";
      AppendEscaped(text_, label);
      text_ += '"';
      separator = ',';
    }
    if (!labels.empty()) text_ += '}';
    text_ += fmt::format(" {}\n", value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void WriteCost(const LivePower& power, PrometheusPage& page) {
  const auto one = [&](std::string_view name, std::string_view type, std::string_view unit,
                       std::string_view help, auto value) {
    page.Family(name, type, unit, help);
    page.Sample(name, {}, static_cast<double>(value));
  };
  const SamplerCost& cost = power.cost;
  one("beryl_sampler_cpu_seconds_total", "counter", "seconds", "CPU time of the monitor.",
      cost.cpu_time.value);
  one("beryl_sampler_ticks_total", "counter", "", "Readings that were taken.", cost.ticks);
  one("beryl_sampler_late_ticks_total", "counter", "",
      "Readings that came more than half a period late.", cost.late);
  one("beryl_sampler_missed_ticks_total", "counter", "", "Readings that were missed.", cost.missed);
  one("beryl_sampler_lost_samples_total", "counter", "", "Readings that were taken and lost.",
      cost.lost);
  one("beryl_sessions", "gauge", "", "Sessions that are running.", power.sessions.size());
  one("beryl_sessions_started_total", "counter", "", "Sessions that were started.",
      power.sessions_started);
  one("beryl_sessions_refused_total", "counter", "", "Sessions that were refused.",
      power.sessions_refused);
}

// Not every monitor publishes the energy of its sessions.
void WriteSessions(const LivePower& power, PrometheusPage& page) {
  const bool told =
      std::any_of(power.sessions.begin(), power.sessions.end(),
                  [](const LiveSession& session) { return !session.devices.empty(); });
  if (!told) return;
  const auto family = [&](const char* name, const char* help,
                          std::optional<Joules> LiveDevice::*energy) {
    page.Family(name, "counter", "joules", help);
    for (const LiveSession& session : power.sessions) {
      for (const LiveDevice& device : session.devices) {
        page.Sample(name, LabelsOf(session, device), ValueOrNan(device.*energy));
      }
    }
  };
  family("beryl_session_energy_joules_total", "Energy of a device since the session started.",
         &LiveDevice::energy);
  family("beryl_session_ours_joules_total", "The part of it that the session's processes used.",
         &LiveDevice::ours);
}

void WriteLabels(const Labels& labels, JsonWriter& json) {
  json.Key("attributes").BeginArray();
  for (const auto& [key, value] : labels) {
    json.BeginObject().Member("key", key).Key("value").BeginObject();
    json.Member("stringValue", value).End().End();
  }
  json.End();
}

// 64-bit numbers are text in OTLP's JSON.
void WritePoint(const LivePower& power, const LiveChannel& live, double value, bool sum,
                JsonWriter& json) {
  if (!std::isfinite(value)) return;
  json.BeginObject();
  WriteLabels(LabelsOf(live), json);
  if (sum) json.Member("startTimeUnixNano", std::to_string(power.start.value));
  json.Member("timeUnixNano", std::to_string(power.time.value)).Member("asDouble", value).End();
}

}  // namespace

std::string WritePrometheus(const LivePower& power) {
  PrometheusPage page;
  page.Family("hw_energy_joules_total", "counter", "joules",
              "Energy since the monitor started. Sum only those without hw_parent.");
  for (const LiveChannel& live : power.channels) {
    page.Sample("hw_energy_joules_total", LabelsOf(live), ValueOrNan(live.energy));
  }
  page.Family("hw_power_watts", "gauge", "watts", "Current power.");
  for (const LiveChannel& live : power.channels) {
    page.Sample("hw_power_watts", LabelsOf(live), ValueOrNan(live.power));
  }
  WriteSessions(power, page);
  WriteCost(power, page);
  return page.Take();
}

std::string WriteOtlp(const LivePower& power) {
  JsonWriter json;
  json.BeginObject().Key("resourceMetrics").BeginArray().BeginObject();
  json.Key("resource").BeginObject();
  WriteLabels({{"service.name", "beryl"}, {"host.name", power.host}}, json);
  json.End().Key("scopeMetrics").BeginArray().BeginObject();
  json.Key("scope")
      .BeginObject()
      .Member("name", "beryl")
      .Member("version", ToolText(power.provenance))
      .End();
  json.Key("metrics").BeginArray();

  const auto metric = [&](const char* name, const char* unit, const char* description, bool sum,
                          auto LiveChannel::*value) {
    json.BeginObject().Member("name", name).Member("unit", unit);
    json.Member("description", description).Key(sum ? "sum" : "gauge").BeginObject();
    // 2 is cumulative.
    if (sum) json.Member("aggregationTemporality", 2).Member("isMonotonic", true);
    json.Key("dataPoints").BeginArray();
    for (const LiveChannel& live : power.channels) {
      WritePoint(power, live, ValueOrNan(live.*value), sum, json);
    }
    json.End().End().End();
  };
  metric("hw.energy", "J", "Energy since the monitor started", true, &LiveChannel::energy);
  metric("hw.power", "W", "Current power", false, &LiveChannel::power);
  json.End().End().End().End().End().End();
  return json.Take();
}

}  // namespace beryl::views
