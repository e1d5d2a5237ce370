// The user's own traces and our tracks in one archive, on one timeline:
// https://perfetto.dev/docs/reference/perfetto-manifest
#include <set>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "views/export.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

// The name of a file without its folders, as every archive can have it, unlike those before.
std::string NameInBundle(const std::string& file, std::set<std::string>& taken) {
  std::string name = file.substr(file.rfind('/') + 1);
  // Files are in the archive without a compression of their own.
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (char& letter : name) {
    if (letter <= ' ' || letter > '~' || letter == '\\' || letter == ':') letter = '_';
  }
  while (!taken.insert(name).second) name = fmt::format("{}_{}", taken.size(), name);
  return name;
}

}  // namespace

std::string WritePerfettoManifest(const ExportedRun& run, std::string_view tracks,
                                  const std::vector<std::string>& names) {
  const Nanos origin = PerfettoOrigin(run);
  JsonWriter json;
  json.BeginObject().Key("perfetto_manifest").BeginObject().Member("version", 1);
  json.Key("trace_time").BeginObject();
  json.Member("clock", "BOOTTIME").Member("file", tracks).End();
  json.Key("files").BeginArray();
  json.BeginObject().Member("path", tracks).End();
  for (size_t i = 0; i < names.size(); ++i) {
    json.BeginObject().Member("path", names[i]).Key("clocks").BeginObject();
    json.Key("sync_to").BeginObject().Member("file", tracks).Member("clock", "BOOTTIME").End();
    json.Member("offset_ns", (run.traces[i].to_power - origin).value).End().End();
  }
  json.End();
  json.Key("attributes").BeginObject();
  json.Member("beryl.provenance", ProvenanceText(run.report)).End();
  json.End();
  return EndResult(json);
}

Status WritePerfettoBundle(const ExportedRun& run, const OpenTrace& open, ZipWriter::Sink put) {
  constexpr const char* kTracks = "beryl.pftrace";
  constexpr const char* kManifest = "perfetto_manifest.json";
  std::set<std::string> taken = {kTracks, kManifest};
  std::vector<std::string> names;
  for (const ExportedTrace& trace : run.traces) names.push_back(NameInBundle(trace.file, taken));
  ZipWriter zip(std::move(put));
  TRY(zip.Add(kManifest, WritePerfettoManifest(run, kTracks, names)));
  TRY(zip.Add(kTracks, WritePerfetto(run)));
  for (size_t i = 0; i < names.size(); ++i) {
    auto source = TRY(open(run.traces[i].file));
    TRY(zip.Add(names[i], source));
  }
  return zip.Finish();
}

}  // namespace beryl::views
