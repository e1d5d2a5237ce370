// What a machine draws just now: as a page for a terminal, a line, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.top/1";
constexpr int kProcessesShown = 20;
// On a small screen, notes get a few lines and processes the others.
constexpr int kSmallScreen = 30;
constexpr int kNoteLines = 2;

int LinesOf(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::string_view OwnerName(const PowerLook::Process& process) {
  return process.is_ours ? "watched" : "recorder";
}

class LookPage : public PageOf<PowerLook> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Head();
    Devices();
    Line();
    const std::string above = Take();
    FittingNotes();
    Foot("", result_.provenance);
    const std::string below = Take();
    if (HasProcesses()) Processes(Fitting(LinesOf(above) + LinesOf(below)));
    return above + Take() + below;
  }

  std::string Summary() const {
    std::string text = fmt::format("{}: {}", FormatSeconds(result_.elapsed), Totals());
    for (const PowerLook::Device& device : result_.devices) {
      text += fmt::format("; {} {}", Printable(device.device), OrDash(device.power, FormatWatts));
    }
    return text;
  }

 private:
  static constexpr int kNumber = 10;

  // "31.2 W, 12.1 W of it ours; 374 J, 120 J of it ours"
  std::string Totals() const {
    const bool watched = !result_.pids.empty();
    std::string text = result_.origin == Origin::kEstimated ? "an estimate: " : "";
    text += OrDash(result_.power, FormatWatts);
    if (watched) text += fmt::format(", {} of it ours", OrDash(result_.ours, FormatWatts));
    text += "; " + JoulesOrDash(result_.energy);
    if (watched) text += fmt::format(", {} of it ours", JoulesOrDash(result_.our_energy));
    return text;
  }

  void Head() {
    const std::string whose = !HasProcesses()        ? "the machine"
                              : result_.pids.empty() ? "all processes"
                                                     : fmt::format("process {} and its children",
                                                                   fmt::join(result_.pids, ", "));
    Line(Bold(fmt::format("{} in {}", Totals(), FormatSeconds(result_.elapsed))));
    SmallPrint(fmt::format("{}; {}; mean of {}; {}", Printable(result_.machine), whose,
                           FormatSeconds(result_.duration), FormatTime(result_.time)));
    Line();
  }

  void Devices() {
    const int name =
        std::min(Widest(result_.devices, 6, [](const auto& one) { return one.device; }) + 2, 24);
    const int bar = std::clamp(width_ - name - 3 * kNumber - 20, 0, 30);
    const std::vector<int> widths = {-name, kNumber, kNumber, kNumber, 2, -bar};
    Line(Dim(Cells(widths, {"device", "power", "processes", "energy", "", ""}) + "  source"));
    for (const PowerLook::Device& device : result_.devices) {
      const std::string source =
          device.origin == Origin::kEstimated ? "estimated" : Printable(device.source);
      Line(Cells(widths, {NameCell(device.device, name), OrDash(device.power, FormatWatts),
                          OrDash(device.ours, FormatWatts), JoulesOrDash(device.energy), "",
                          Bar(device, bar)}) +
           "  " + source);
    }
  }

  // Its part of all power.
  std::string Bar(const PowerLook::Device& device, int width) const {
    const double share = ValueOrNan(device.power) / ValueOrNan(result_.power);
    if (!(share > 0) || share > 1) return "";
    std::string bar;
    const auto cells = static_cast<int>(std::lround(share * width));
    for (int i = 0; i < cells; ++i) bar += "█";
    return bar;
  }

  // A recording of the machine looks at no process but itself.
  bool HasProcesses() const {
    return !result_.pids.empty() ||
           std::any_of(result_.processes.begin(), result_.processes.end(),
                       [](const PowerLook::Process& process) { return process.is_ours; });
  }

  void FittingNotes() {
    const int room = options_.rows > 0 && options_.rows < kSmallScreen ? kNoteLines : 1'000'000;
    std::string notes;
    size_t shown = 0;
    for (; shown < result_.notes.size(); ++shown) {
      Notes({result_.notes[shown]});
      const std::string note = Take();
      if (LinesOf(notes) + LinesOf(note) > room) break;
      notes += note;
    }
    text_ = std::move(notes);
    const size_t left = result_.notes.size() - shown;
    if (left == 0) return;
    Line(Dim(fmt::format(
        "{} more note{}{}", left, left == 1 ? "" : "s",
        options_.flag.empty() ? "" : fmt::format(": beryl top {}once has all", options_.flag))));
  }

  // How many processes, between a line of names and one that counts the others.
  int Fitting(int other_lines) const {
    constexpr int kOwnLines = 2;
    if (options_.rows == 0) return kProcessesShown;
    return std::max(1, options_.rows - other_lines - kOwnLines);
  }

  void Processes(int fitting) {
    const int name = std::clamp(width_ - 4 * kNumber - 11, 12, 40);
    const std::vector<int> widths = {9, 2, -name, 9, 8, kNumber, kNumber};
    Line(Dim(Cells(widths, {"process", "", "name", "threads", "CPU", "power", "energy"})));
    const size_t shown = CountShown(result_.processes.size(), options_.top.value_or(fitting));
    for (size_t i = 0; i < shown; ++i) {
      const PowerLook::Process& process = result_.processes[i];
      const std::string label = process.name + (process.is_ours ? "" : " (this program)");
      Line(Cells(widths, {std::to_string(process.pid), "", NameCell(label, name),
                          FormatCount(process.threads), FormatPercent(process.cpus),
                          OrDash(process.power, FormatWatts), JoulesOrDash(process.energy)}));
    }
    if (shown < result_.processes.size()) {
      Line(Dim(fmt::format("{:>9}  {} more", "and", result_.processes.size() - shown)));
    }
  }
};

std::string Json(const PowerLook& look, const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, look.provenance);
  json.Member("machine", look.machine).Member("pids", look.pids);
  json.Member("time_ns", look.time.value).Member("seconds", look.duration);
  json.Member("elapsed_s", look.elapsed).Member("origin", OriginName(look.origin));
  json.Member("power_w", look.power).Member("ours_w", look.ours);
  json.Member("energy_j", look.energy).Member("ours_j", look.our_energy);
  json.Objects("devices", look.devices, [&](const PowerLook::Device& device) {
    json.Member("device", device.device).Member("power_w", device.power);
    json.Member("ours_w", device.ours).Member("energy_j", device.energy);
    json.Member("origin", OriginName(device.origin)).Member("source", device.source);
  });
  const std::span all(look.processes);
  json.Objects("processes", options.top ? all.first(CountShown(all.size(), *options.top)) : all,
               [&](const PowerLook::Process& process) {
                 json.Member("pid", process.pid).Member("name", process.name);
                 json.Member("owner", OwnerName(process)).Member("threads", process.threads);
                 json.Member("cpus", process.cpus).Member("power_w", process.power);
                 json.Member("energy_j", process.energy);
               });
  return EndResult(json, look.notes, look.provenance);
}

std::string Csv(const PowerLook& look) {
  CsvTable csv(kSchema, look.provenance,
               "kind,name,pid,threads,cpus,power_w,ours_w,energy_j,origin,source");
  for (const PowerLook::Device& device : look.devices) {
    csv.Row("device", device.device, "", "", "", device.power, device.ours, device.energy,
            OriginName(device.origin), device.source);
  }
  for (const PowerLook::Process& process : look.processes) {
    csv.Row("process", process.name, process.pid, process.threads, process.cpus, process.power, "",
            process.energy, OriginName(look.origin), OwnerName(process));
  }
  return csv.Take();
}

}  // namespace

std::string Write(const PowerLook& look, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(look, options);
  if (format == Format::kCsv) return Csv(look);
  if (format == Format::kSummary) return LookPage(look, options).Summary();
  return LookPage(look, options).Write();
}

}  // namespace beryl::views
