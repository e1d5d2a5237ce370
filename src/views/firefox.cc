// Firefox Profiler's processed profile: github.com/firefox-devtools/profiler, src/types/profile.ts.
// It upgrades older versions, so this one stays readable.
#include <cmath>

#include "base/json_writer.h"
#include "base/text.h"
#include "views/draw/svg_parts.h"
#include "views/export.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr double kPicowattHour = 3.6e-9;  // in joules
constexpr int kProfileVersion = 47;
constexpr int kGeckoVersion = 27;
constexpr int kInterval = 1;  // phase of a marker with start and end

struct Marker {
  std::string type;
  std::string name;
  Nanos start;
  Nanos end;
  double energy_j = kUnknown;
};

class ProfileWriter {
 public:
  explicit ProfileWriter(const ExportedRun& run) : run_(run) {
    for (const StepEnergy& step : run.steps) {
      if (step.name.empty()) continue;
      markers_.push_back({"Step", Printable(step.name), step.start, step.end, step.energy_j});
    }
    for (const ReadEnergy& read : run.readings) {
      for (size_t i = 0; i < read.energy_j.size(); ++i) {
        if (!std::isnan(read.energy_j[i])) continue;
        markers_.push_back(
            {"NoReadings", Printable(read.channel), read.times[i], read.times[i + 1]});
      }
    }
    bool any = false;
    const auto include = [&](Nanos from, Nanos to) {
      start_ = any ? std::min(start_, from) : from;
      end_ = any ? std::max(end_, to) : to;
      any = true;
    };
    for (const ReadEnergy& read : run.readings) {
      if (!read.times.empty()) include(read.times.front(), read.times.back());
    }
    for (const Marker& marker : markers_) include(marker.start, marker.end);
  }

  std::string Write() {
    json_.BeginObject();
    WriteMeta();
    json_.Member("libs", kNone).Member("pages", kNone);
    json_.Key("counters").BeginArray();
    for (const ReadEnergy& read : run_.readings) WriteCounter(read);
    json_.End();
    json_.Key("threads").BeginArray();
    WriteThread();
    json_.End();
    return EndResult(json_);
  }

 private:
  static constexpr std::array<int, 0> kNone = {};

  double Milliseconds(Nanos time) const { return (time - start_).seconds() * 1e3; }

  void WriteMeta() {
    json_.Key("meta").BeginObject();
    json_.Member("interval", 1).Member("startTime", start_.seconds() * 1e3);
    // What is at the end itself would be outside.
    json_.Member("profilingStartTime", 0);
    json_.Member("profilingEndTime", Milliseconds(end_ + Nanos{1'000}));
    json_.Member("processType", 0).Member("product", RunName(run_.report.context));
    json_.Member("importedFrom", "Beryl").Member("stackwalk", 0);
    json_.Member("version", kGeckoVersion).Member("preprocessedProfileVersion", kProfileVersion);
    json_.Member("symbolicationNotSupported", true);
    json_.Member("arguments", ProvenanceText(run_.report));
    if (run_.co2e_g_per_kwh) json_.Member("gramsOfCO2ePerKWh", *run_.co2e_g_per_kwh);
    json_.Key("extensions").BeginObject();
    Columns({"id", "name", "baseURL"}, 0);
    json_.Key("categories").BeginArray().BeginObject();
    json_.Member("name", "Other").Member("color", "grey");
    json_.Key("subcategories").BeginArray().Value("Other").End().End().End();
    json_.Key("markerSchema").BeginArray();
    WriteSchema("Step", "{marker.data.name}", true);
    WriteSchema("NoReadings", "{marker.data.name}: no readings", false);
    json_.End().End();
  }

  void WriteSchema(std::string_view type, std::string_view label, bool has_energy) {
    json_.BeginObject().Member("name", type);
    json_.Member("chartLabel", label).Member("tooltipLabel", label).Member("tableLabel", label);
    json_.Key("display").BeginArray();
    for (const char* place : {"marker-chart", "marker-table", "timeline-overview"}) {
      json_.Value(place);
    }
    json_.End().Key("data").BeginArray();
    const auto field = [&](std::string_view key, std::string_view text, std::string_view format) {
      json_.BeginObject().Member("key", key).Member("label", text);
      json_.Member("format", format).End();
    };
    field("name", type == "Step" ? "Step" : "Meter", "string");
    if (has_energy) field("energy_j", "Energy of its operations (J)", "decimal");
    json_.End().End();
  }

  // Whole numbers that add up to the energy. What is not known is not there, and a marker says so.
  void WriteCounter(const ReadEnergy& read) {
    const std::vector<uint64_t> counts = RoundTogether(read.energy_j, kPicowattHour);
    json_.BeginObject().Member("name", Printable(read.channel)).Member("category", "power");
    json_.Member("description", read.within.empty() ? std::string(OriginName(read.origin))
                                                    : "within " + Printable(read.within));
    json_.Member("pid", "0").Member("mainThreadIndex", 0);
    json_.Key("sampleGroups").BeginArray().BeginObject().Member("id", 0);
    json_.Key("samples").BeginObject();
    std::vector<double> times;
    for (const Nanos time : read.times) times.push_back(Milliseconds(time));
    json_.Member("time", times);
    json_.Key("count").BeginArray();
    // The count of a sample is what was used since the previous one.
    if (!times.empty()) json_.Value(0);
    for (const uint64_t count : counts) json_.Value(count);
    json_.End().Member("length", times.size()).End();
    json_.End().End().End();
  }

  // Empty columns, and the end of their table.
  void Columns(std::initializer_list<std::string_view> names, size_t length) {
    for (const std::string_view name : names) json_.Member(name, kNone);
    json_.Member("length", length).End();
  }
  void Table(std::string_view table, std::initializer_list<std::string_view> names) {
    json_.Key(table).BeginObject();
    Columns(names, 0);
  }

  // There must be one. It has the steps.
  void WriteThread() {
    json_.BeginObject().Member("processType", "default").Member("processStartupTime", 0);
    json_.Key("processShutdownTime").Value(std::optional<double>());
    json_.Member("registerTime", 0).Key("unregisterTime").Value(std::optional<double>());
    json_.Member("pausedRanges", kNone).Member("name", "Steps").Member("isMainThread", true);
    json_.Member("pid", "0").Member("tid", 0);
    json_.Key("samples").BeginObject().Member("weightType", "samples");
    json_.Key("weight").Value(std::optional<double>());
    Columns({"eventDelay", "stack", "time"}, 0);
    WriteMarkers();
    Table("stackTable", {"frame", "prefix", "category", "subcategory"});
    Table("frameTable", {"address", "inlineDepth", "category", "subcategory", "func",
                         "nativeSymbol", "innerWindowID", "implementation", "line", "column"});
    Table("funcTable",
          {"isJS", "relevantForJS", "name", "resource", "fileName", "lineNumber", "columnNumber"});
    Table("resourceTable", {"lib", "name", "host", "type"});
    Table("nativeSymbols", {"libIndex", "address", "name", "functionSize"});
    json_.Key("stringArray").BeginArray().Value("Step").Value("No readings").End().End();
  }

  void WriteMarkers() {
    json_.Key("markers").BeginObject();
    json_.Key("data").BeginArray();
    for (const Marker& marker : markers_) {
      json_.BeginObject().Member("type", marker.type).Member("name", marker.name);
      if (!std::isnan(marker.energy_j)) json_.Member("energy_j", marker.energy_j);
      json_.End();
    }
    json_.End();
    const auto list = [&](std::string_view name, auto&& value_of) {
      json_.Key(name).BeginArray();
      for (const Marker& marker : markers_) json_.Value(value_of(marker));
      json_.End();
    };
    list("name", [](const Marker& marker) { return marker.type == "Step" ? 0 : 1; });
    list("startTime", [&](const Marker& marker) { return Milliseconds(marker.start); });
    list("endTime", [&](const Marker& marker) { return Milliseconds(marker.end); });
    list("phase", [](const Marker&) { return kInterval; });
    list("category", [](const Marker&) { return 0; });
    json_.Member("length", markers_.size()).End();
  }

  const ExportedRun& run_;
  JsonWriter json_;
  std::vector<Marker> markers_;
  Nanos start_;
  Nanos end_;
};

}  // namespace

std::string WriteFirefox(const ExportedRun& run) { return ProfileWriter(run).Write(); }

}  // namespace beryl::views
