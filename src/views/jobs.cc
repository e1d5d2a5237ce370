// Jobs of a library, as JSON and CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "types/library_json.h"
#include "views/text/csv_table.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.jobs/1";

std::optional<std::string> TextOf(const std::optional<Nanos>& time) {
  return time ? std::optional(TimeText(*time)) : std::nullopt;
}

std::optional<uint64_t> TotalOf(const LibraryJob& job) {
  return job.progress.total > 0 ? std::optional(job.progress.total) : std::nullopt;
}

std::string PlaceOf(const JobEntry& entry) {
  return fmt::format("/api/v1/{}s/{}", EntryKindName(entry.kind), entry.id);
}

void WriteJob(JsonWriter& json, const LibraryJob& job) {
  json.Member("id", job.id).Member("kind", job.kind).Member("state", JobStateName(job.state));
  json.Key("request").Json(job.request);
  json.Key("progress").BeginObject().Member("done", job.progress.done);
  json.Member("total", TotalOf(job)).Member("text", job.progress.text).End();
  json.Member("created", TimeText(job.created)).Member("started", TextOf(job.started));
  json.Member("finished", TextOf(job.finished)).Member("attempts", job.attempts);
  json.Member("cancel_requested", job.cancel_requested).Member("last_event", job.last_event);
  json.Key("error");
  if (job.error.empty()) {
    json.Value(std::optional<std::string>());
  } else {
    json.Json(job.error);
  }
  std::vector<EntryFile> results;
  for (const EntryFile& file : job.files) {
    if (file.role == FileRole::kResult) results.push_back(file);
  }
  json.Objects("results", results, [&](const EntryFile& file) {
    json.Member("name", file.name).Member("bytes", file.stored.bytes);
    json.Member("digest", file.stored.digest).Member("media_type", file.media_type);
  });
  json.Objects("entries", job.entries, [&](const JobEntry& entry) {
    json.Member("kind", EntryKindName(entry.kind)).Member("id", entry.id);
    json.Member("location", PlaceOf(entry));
  });
}

std::string Json(const JobList& list) {
  JsonWriter json;
  BeginResult(json, kSchema, list.provenance);
  json.Objects("jobs", list.page.jobs, [&](const LibraryJob& job) { WriteJob(json, job); });
  return EndPage(json, list.page.next_token);
}

std::string Csv(const JobList& list) {
  CsvTable csv(kSchema, list.provenance,
               "id,kind,state,done,total,created,started,finished,attempts,cancel_requested,"
               "entries");
  for (const LibraryJob& job : list.page.jobs) {
    std::vector<std::string> made;
    for (const JobEntry& entry : job.entries) made.push_back(entry.id);
    csv.Row(job.id, job.kind, JobStateName(job.state), job.progress.done, TotalOf(job),
            TimeText(job.created), TextOf(job.started).value_or(""),
            TextOf(job.finished).value_or(""), job.attempts, job.cancel_requested,
            fmt::format("{}", fmt::join(made, " ")));
  }
  return csv.Take();
}

}  // namespace

std::string Write(const JobList& list, Format format, const ViewOptions& /*options*/) {
  return format == Format::kCsv ? Csv(list) : Json(list);
}

}  // namespace beryl::views
