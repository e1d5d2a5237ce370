#include "flows/library_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "flows/account_run.h"
#include "flows/lent_files.h"
#include "flows/measure_run.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = size_t{1} << 20;

// The files of a run, at those places.
RunFiles RunFilesOf(const std::vector<EntryFile>& files, const std::vector<std::string>& places) {
  RunFiles run;
  std::vector<std::string> runs;
  for (size_t i = 0; i < files.size(); ++i) {
    const EntryFile& file = files[i];
    if (file.role == FileRole::kRun) runs.push_back(places[i]);
    if (file.role != FileRole::kOps && file.role != FileRole::kPower) continue;
    const bool is_ops = file.role == FileRole::kOps;
    if (file.rank.empty()) {
      (is_ops ? run.ops : run.power).push_back(places[i]);
      continue;
    }
    auto rank = std::find_if(run.ranks.begin(), run.ranks.end(),
                             [&](const RankFiles& known) { return known.rank == file.rank; });
    if (rank == run.ranks.end()) {
      rank = run.ranks.insert(run.ranks.end(), RankFiles{file.rank, {}, {}, {}});
    }
    (is_ops ? rank->ops : rank->power).push_back(places[i]);
  }
  if (!runs.empty()) run.runs = {fmt::format("{}", fmt::join(runs, "+"))};
  return run;
}

void ForgetPlaces(const LentFiles& lent, RunInput& run) {
  for (auto* list : {&run.context.run_files, &run.context.ops_files, &run.context.power_files}) {
    for (std::string& file : *list) lent.Forget(file);
  }
  for (ImportReport& report : run.ops.reports) {
    lent.Forget(report.file);
    lent.Forget(report.notes);
  }
  lent.Forget(run.power.report.file);
  lent.Forget(run.power.report.notes);
  lent.Forget(run.notes);
  if (run.recording) lent.Forget(run.recording->notes);
}

std::optional<double> ValueOf(const std::optional<Joules>& energy) {
  return energy ? std::optional(energy->value) : std::nullopt;
}

// Of the whole tree.
std::optional<double> OfRoot(const std::vector<double>& values) {
  const double value = At(values, 0);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

// The mean energy of the steps whose energy is known.
std::optional<double> MeanStep(const Footprint& footprint) {
  const std::set<uint32_t> steps = [&] {
    const auto known = KnownSteps(footprint);
    return std::set<uint32_t>(known.begin(), known.end());
  }();
  if (steps.empty()) return std::nullopt;
  double sum = 0;
  for (const EnergyShare& share : footprint.shares) {
    if (steps.contains(share.step)) sum += share.energy.value;
  }
  return sum / static_cast<double>(steps.size());
}

// Without power nothing is known of its energy; without operations it is as measured.
Status FillFromPower(RunInput& input, const RunOptions& options, LibraryEntry& run) {
  if (input.power.channels.empty()) return {};
  uint64_t readings = 0;
  for (const PowerChannel& channel : input.power.channels) readings += channel.times.size();
  run.figures.readings = static_cast<double>(readings);
  const Measurement measured = MeasureRun(input, {.slices = 1});
  const TotalEnergy& total = measured.total;
  run.figures.machine_j = ValueOf(total.energy);
  run.figures.energy_j = ValueOf(total.ours ? total.ours : total.energy);
  run.figures.low_j = ValueOf(total.ours ? total.ours_low : total.low);
  run.figures.high_j = ValueOf(total.ours ? total.ours_high : total.high);
  run.figures.per_step_j = ValueOf(measured.round_energy.mean);
  run.figures.duration_s = measured.duration.value;
  run.origin = total.origin;
  if (input.ops.Glance().All().count == 0) return {};
  RunOptions quick = options;
  quick.only_folded = true;
  quick.timeline = false;
  const auto accounted = TRY(AccountRun(std::move(input), quick));
  const AccountReport report = MakeReport(accounted, quick);
  const Column& energy = report.folded.columns.front();
  run.figures.energy_j = OfRoot(energy.total);
  run.figures.low_j = OfRoot(energy.low);
  run.figures.high_j = OfRoot(energy.high);
  run.figures.per_step_j = MeanStep(accounted.footprint);
  run.origin = energy.origin;
  return {};
}

Status CheckIsFile(const std::string& path) {
  std::error_code ignored;
  if (path == "-") {
    return MisuseError("standard input cannot be kept in a library; name a file");
  }
  if (fs::is_directory(path, ignored)) {
    return MisuseError(fmt::format(
        "{}: is a folder; name the files in it, or put them into one run file first", path));
  }
  return {};
}

}  // namespace

std::string NameOfFiles(const LibraryEntry& run) {
  std::vector<std::string> names;
  for (const EntryFile& file : run.files) {
    if (file.role == FileRole::kRun) names.push_back(OriginalName(file));
  }
  return names.empty() ? run.name : fmt::format("{}", fmt::join(names, "+"));
}

Result<EntryFile> KeepInLibrary(store::Library& library, const std::string& path, FileRole role) {
  TRY(CheckIsFile(path));
  auto source = TRY(ByteSource::OpenAsItIs(path));
  auto intake = TRY(library.BeginFile());
  std::string buffer(kPiece, '\0');
  for (size_t got = buffer.size(); got == buffer.size();) {
    got = TRY(source.Read(buffer.data(), buffer.size()));
    TRY(intake.Write(std::string_view(buffer).substr(0, got)));
  }
  EntryFile file;
  file.stored = TRY(intake.Keep());
  file.name = fs::path(path).filename().string();
  file.role = role;
  return file;
}

Result<RunInput> ReadLibraryRun(store::Library& library, const LibraryEntry& run,
                                const RunOptions& options) {
  const auto lent = TRY(LentFiles::Apart(library, run.files));
  auto input = ReadRunOf(RunFilesOf(run.files, lent.places()), options);
  if (!input) return lent.Forget(std::move(input).error());
  ForgetPlaces(lent, *input);
  return input;
}

Result<store::AddedEntry> AddRunToLibrary(store::Library& library, LibraryEntry run,
                                          const RunOptions& options) {
  if (run.files.empty()) return MisuseError("a run has at least one file");
  run.kind = EntryKind::kRun;
  if (run.name.empty()) {
    fs::path name = run.files.front().name;
    if (name.extension() == ".beryl") name.replace_extension();
    run.name = name.filename().string();
  }
  auto input = TRY(ReadLibraryRun(library, run, options));
  const auto operations = input.ops.Glance().All().count;
  const bool is_file = run.files.front().role == FileRole::kRun;
  run.form = !is_file          ? RunForm::kTraces
             : operations == 0 ? RunForm::kRecording
                               : RunForm::kRunFile;
  if (run.machine.empty() && input.recording) run.machine = input.recording->machine;
  if (operations > 0) run.figures.operations = static_cast<double>(operations);
  TRY(FillFromPower(input, options, run));
  return library.Add(std::move(run));
}

Result<store::AddedEntry> AddRunToLibrary(store::Library& library, const RunFiles& files,
                                          LibraryEntry run, const RunOptions& options) {
  TRY(CheckOneRun(files));
  // Before the first is kept.
  for (const std::string& file : files.All()) TRY(CheckIsFile(file));
  const auto keep = [&](const std::vector<std::string>& paths, FileRole role,
                        const std::string& rank) -> Status {
    for (const std::string& path : paths) {
      auto file = TRY(KeepInLibrary(library, path, role));
      file.rank = rank;
      run.files.push_back(std::move(file));
    }
    return {};
  };
  for (const std::string& name : files.runs) TRY(keep(FilesOfRun(name), FileRole::kRun, ""));
  TRY(keep(files.ops, FileRole::kOps, ""));
  TRY(keep(files.power, FileRole::kPower, ""));
  for (const RankFiles& rank : files.ranks) {
    TRY(keep(rank.ops, FileRole::kOps, rank.rank));
    TRY(keep(rank.power, FileRole::kPower, rank.rank));
  }
  return AddRunToLibrary(library, std::move(run), options);
}

}  // namespace beryl::flows
