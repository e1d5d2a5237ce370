#include "flows/library_run.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "flows/account_run.h"
#include "flows/measure_run.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = size_t{1} << 20;

// The files of a stored run under the names that they were given: ranks and messages follow them.
class NamedFiles {
 public:
  static Result<NamedFiles> Lend(store::Library& library, const std::vector<EntryFile>& files) {
    std::string folder = (fs::temp_directory_path() / "beryl-run-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
      return IoError(
          fmt::format("{}: cannot make a folder there", fs::temp_directory_path().string()));
    }
    NamedFiles named(folder);
    std::error_code failed;
    for (size_t i = 0; i < files.size(); ++i) {
      const fs::path place = fs::path(folder) / std::to_string(i);
      fs::create_directory(place, failed);
      const std::string path = TRY(library.PathOf(files[i].stored.digest));
      fs::create_symlink(fs::absolute(path), place / OriginalName(files[i]), failed);
      if (failed) return IoError(fmt::format("{}: {}", place.string(), failed.message()));
      named.paths_.push_back((place / OriginalName(files[i])).string());
    }
    return named;
  }
  NamedFiles(NamedFiles&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), paths_(std::move(other.paths_)) {}
  NamedFiles& operator=(NamedFiles&&) = delete;
  ~NamedFiles() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  RunFiles Of(const std::vector<EntryFile>& files) const {
    RunFiles run;
    std::vector<std::string> runs;
    for (size_t i = 0; i < files.size(); ++i) {
      const EntryFile& file = files[i];
      if (file.role == FileRole::kRun) runs.push_back(paths_[i]);
      if (file.role != FileRole::kOps && file.role != FileRole::kPower) continue;
      const bool is_ops = file.role == FileRole::kOps;
      if (file.rank.empty()) {
        (is_ops ? run.ops : run.power).push_back(paths_[i]);
        continue;
      }
      auto rank = std::find_if(run.ranks.begin(), run.ranks.end(),
                               [&](const RankFiles& known) { return known.rank == file.rank; });
      if (rank == run.ranks.end()) {
        rank = run.ranks.insert(run.ranks.end(), RankFiles{file.rank, {}, {}, {}});
      }
      (is_ops ? rank->ops : rank->power).push_back(paths_[i]);
    }
    if (!runs.empty()) run.runs = {fmt::format("{}", fmt::join(runs, "+"))};
    return run;
  }

  // Takes the folder out of what was read from there.
  void Forget(std::string& text) const {
    for (size_t at = 0; (at = text.find(folder_, at)) != std::string::npos;) {
      const size_t end = text.find('/', at + folder_.size() + 1);
      text.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
  }
  void Forget(std::vector<Note>& notes) const {
    for (Note& note : notes) {
      for (std::string* text : {&note.subject, &note.first, &note.source}) Forget(*text);
    }
  }
  void Forget(RunInput& run) const {
    for (auto* list : {&run.context.run_files, &run.context.ops_files, &run.context.power_files}) {
      for (std::string& file : *list) Forget(file);
    }
    for (ImportReport& report : run.ops.reports) {
      Forget(report.file);
      Forget(report.notes);
    }
    Forget(run.power.report.file);
    Forget(run.power.report.notes);
    Forget(run.notes);
    if (run.recording) Forget(run.recording->notes);
  }

 private:
  explicit NamedFiles(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
  std::vector<std::string> paths_;
};

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

std::string OriginalName(const EntryFile& file) {
  std::string name = fs::path(file.name).filename().string();
  if (name.empty() || name == "." || name == "..") return "file";
  return name.substr(0, 200);
}

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
  const auto named = TRY(NamedFiles::Lend(library, run.files));
  auto input = ReadRunOf(named.Of(run.files), options);
  if (!input) {
    Error error = std::move(input).error();
    named.Forget(error.message);
    return error;
  }
  named.Forget(*input);
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
