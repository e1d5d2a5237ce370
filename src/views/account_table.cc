// The terminal view: the tree with bars, the ranked operations, and the energy balance.
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "views/budget.h"
#include "views/described.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr int kDefaultDepth = 6;
constexpr int kWrapperDepth = 2;  // a head and its model
constexpr int kDefaultTop = 10;
constexpr size_t kDetailIndent = 8;

class TableWriter : public PageOf<AccountReport> {
 public:
  using PageOf::PageOf;

  std::string Head() {
    Header();
    return Take();
  }

  std::string Body() {
    Tree();
    Operations();
    return Take() + BudgetTable(result_.budget, options_);
  }

  std::string Balances() {
    Accounts();
    Foot("", result_.provenance);
    return Take();
  }

  std::string Summary() {
    Header();
    if (result_.alignment) Alignment(*result_.alignment);
    return Take() + Balances();
  }

 private:
  void Accounts() {
    Ranks();
    Closure();
    Import();
    Notes(result_.notes);
  }

  void Header() {
    Incomplete(result_.provenance);
    const RunContext& context = result_.context;
    const std::vector<std::string>& names =
        context.run_files.empty() ? context.ops_files : context.run_files;
    std::string files = names.empty() ? "" : names.front();
    if (names.size() > 1) files += fmt::format(" (+{} more)", names.size() - 1);
    std::string line = Bold(Ellipsize(Printable(files), static_cast<size_t>(width_) - 20));
    if (!context.label.empty()) line += "  " + Styled("[" + context.label + "]", "\x1b[33m");
    Line(line);
    Paragraph(context.energy_source);
    Paragraph(fmt::format(
        "clock offset {} us: {}{}", static_cast<double>(result_.clock_offset.value) * 1e-3,
        result_.clock_reason, result_.steps > 1 ? fmt::format("; {} steps", result_.steps) : ""));
    Line();
  }

  void Tree() {
    TableLook look;
    look.title = "where the joules went";
    look.columns = {"energy", "share"};
    look.more = {"flops", "flops_per_j"};
    if (result_.folded.Find("predicted") != nullptr) {
      look.columns = {"energy", "share", "pass", "predicted", "ratio"};
    }
    look.sorted = true;
    look.depth = kDefaultDepth;
    if (result_.alignment) {
      look.deepest = Level::kMl;
      look.depth += kWrapperDepth;
    }
    text_ += TreeTable(result_.folded, look, options_);
    if (!text_.ends_with("\n\n")) Line();
    if (result_.alignment) Alignment(*result_.alignment);
  }

  // How well the tree matches the model that ran.
  void Alignment(const ModelAlignment& alignment) {
    constexpr size_t kMostUnmatched = 5;
    constexpr double kWorthNaming = 0.001;
    const double share = ValueOrNan(alignment.matched_energy) / ValueOrNan(alignment.module_energy);
    Paragraph(fmt::format("{}, {}{}: {} of {} modules found, with {} of the energy inside modules",
                          alignment.model, SizesText(alignment.input),
                          alignment.input_seen ? ", taken from the shapes in the trace" : "",
                          alignment.matched_modules, alignment.described_modules,
                          PercentOrDash(share)));
    if (alignment.passes) {
      Paragraph(fmt::format(
                    "FLOP, their rates and 'per pass' are those of one {}; the run has {:.4g}",
                    alignment.input.prompt > 0 ? "generation" : "forward pass", *alignment.passes),
                2);
    }
    const Joules least = kWorthNaming * alignment.module_energy.value_or(Joules{});
    size_t named = 0;
    Joules of_others;
    for (const ModelAlignment::Unmatched& one : alignment.unmatched) {
      if (named == kMostUnmatched || of_others > Joules{} || one.energy < least) {
        of_others += one.energy.value_or(Joules{});
        continue;
      }
      Paragraph(fmt::format("not in the description: {} ({})", one.path, FormatJoules(one.energy)),
                2, kDimStyle);
      ++named;
    }
    if (const size_t others = alignment.unmatched.size() - named; others > 0) {
      Paragraph(fmt::format("not in the description: {} {}module{} {}", others,
                            named > 0 ? "more " : "", others == 1 ? "" : "s",
                            of_others < least ? "with almost no energy"
                                              : fmt::format("({})", FormatJoules(of_others.value))),
                2, kDimStyle);
    }
    for (size_t i = 0; i < alignment.not_found.size() && i < kMostUnmatched; ++i) {
      Paragraph("not in the run: " + alignment.not_found[i], 2, kWarningStyle);
    }
    if (alignment.not_found.size() > kMostUnmatched) {
      Paragraph(fmt::format("not in the run: {} more", alignment.not_found.size() - kMostUnmatched),
                2, kWarningStyle);
    }
    Notes(alignment.notes, 2);
    Line();
  }

  void Operations() {
    const size_t count = CountShown(result_.summary.size(), options_.top.value_or(kDefaultTop));
    if (count == 0) return;
    Joules attributed;
    for (const ChannelAccount& account : result_.channels) attributed += account.attributed;
    const bool narrow = width_ < kNarrow;
    const int device_width = DeviceWidth(6);
    const std::vector<int> widths = {8, 7, narrow ? 0 : 8, narrow ? 0 : 9, 8, 2, -4, -device_width};
    Line(Bold(Cells(widths, {"energy", "share", "power", "time", "count", "", "", "device"}) +
              (narrow ? " operation" : " operation, layers folded")));
    for (const OperationRow& row : std::span(result_.summary).first(count)) {
      const bool share = row.energy && attributed > Joules{};
      const std::string front =
          Cells(widths,
                {FormatJoules(row.energy), share ? FormatPercent(*row.energy / attributed) : "?",
                 FormatWatts(row.power), FormatSeconds(row.time), FormatCount(row.count), "",
                 kPhaseLooks[static_cast<size_t>(row.phase)].short_name,
                 NameCell(row.device, device_width, 0)}) +
          " ";
      const int room = std::max(12, width_ - static_cast<int>(DisplayWidth(front)));
      Line(front + EllipsizePath(Printable(row.name), static_cast<size_t>(room)));
    }
    if (count < result_.summary.size()) {
      Line(Dim(fmt::format("{:>9} more", FormatCount(result_.summary.size() - count))));
    }
    Line();
  }

  // The width of a column of device names, within limits.
  int DeviceWidth(int least) const {
    constexpr int kWidest = 24;
    const auto name = [](const ChannelAccount& account) { return account.channel; };
    const int width = Widest(result_.channels, least - 1, name) + 1;
    return std::min({width, kWidest, least + std::max(0, width_ - kNarrow)});
  }

  // The part of each rank, if there are several.
  void Ranks() {
    const double whole = result_.folded.columns.front().total[0];
    const std::vector<int> widths = {-24, 10, 8};
    bool first = true;
    for (const Column& column : result_.folded.columns) {
      if (column.of != Column::Of::kRank) continue;
      if (first) Line(Bold(Cells(widths, {"rank", "operations", "share"})));
      first = false;
      const double energy = column.total.front();
      Line(Cells(widths, {NameCell(column.label, 24, 0), OrUnknown(energy, FormatJoules),
                          whole > 0 ? FormatPercent(energy / whole) : "?"}));
    }
    if (!first) Line();
  }

  void Closure() {
    const bool narrow = width_ < kNarrow;
    const int device_width = DeviceWidth(8);
    Line(Bold(fmt::format("{:<{}}{:>10} = {:>10}{} + {:>9}{} + {:>12}", "device", device_width,
                          "total", "operations", narrow ? "" : "       ", "idle",
                          narrow ? "" : "        ", "unattributed")));
    double worst = 0;
    bool estimated = false;
    for (const ChannelAccount& account : result_.channels) {
      estimated = estimated || account.origin == Origin::kEstimated;
      const double total = account.total.value;
      auto share = [&](Joules part, int width) {
        if (narrow) return std::string();
        return RightAligned(total != 0 ? FormatPercent(part.value / total) : "-", width);
      };
      Line(fmt::format("{}{} = {}{} + {}{} + {}", NameCell(account.channel, device_width, 0),
                       RightAligned(FormatJoules(total), 10),
                       RightAligned(FormatJoules(account.attributed.value), 10),
                       share(account.attributed, 7),
                       RightAligned(FormatJoules(account.idle.value), 9), share(account.idle, 8),
                       RightAligned(FormatJoules(account.unattributed.value), 12)));
      Details(account);
      worst = std::max(worst, account.ClosureError());
    }
    Paragraph(std::isfinite(worst)
                  ? fmt::format("closure: the parts sum to {}; relative error {:.1e}",
                                estimated ? "the totals" : "what was measured", worst)
                  : "closure: the parts cannot be summed: a reading is too large to be a number of "
                    "watts");
    Line();
  }

  // Everything about a channel, in as many lines as needed.
  void Details(const ChannelAccount& account) {
    std::vector<std::string> parts = {
        fmt::format("over {} with {} readings, {}",
                    FormatSeconds((account.window_end - account.window_start).seconds()),
                    FormatCount(account.readings), account.policy),
        "feeds " + account.feeds};
    if (account.contained.value != 0) {
      parts.push_back(fmt::format("{} read, less {} contained",
                                  FormatJoules(account.measured.value),
                                  FormatJoules(account.contained.value)));
    }
    if (account.outside_trace.value > 0) {
      parts.push_back(fmt::format("{} of the idle energy lies before or after the trace",
                                  FormatJoules(account.outside_trace.value)));
    }
    if (account.static_part) {
      parts.push_back(fmt::format("static part {}", FormatJoules(account.static_part->value)));
    }
    std::string line = parts.front();
    for (size_t i = 1; i < parts.size(); ++i) {
      if (kDetailIndent + DisplayWidth(line) + DisplayWidth(parts[i]) + 2 >
          static_cast<size_t>(width_)) {
        Paragraph(line + ";", kDetailIndent, kDimStyle);
        line = parts[i];
      } else {
        line += "; " + parts[i];
      }
    }
    Paragraph(line, kDetailIndent, kDimStyle);
  }

  void Import() {
    for (const ImportReport& report : result_.imports) {
      const std::string name = report.file.substr(report.file.rfind('/') + 1);
      std::string line =
          fmt::format("read {} ({}): {} operations of {} events", Printable(name), report.format,
                      FormatCount(report.operations), FormatCount(report.events));
      if (report.device_events > 0) {
        line += fmt::format("; {} of {} device events tied to the operation that launched them",
                            FormatCount(report.tied), FormatCount(report.device_events));
      }
      if (report.outside_modules > 0) {
        line += fmt::format("; {} operations are outside every module",
                            FormatCount(report.outside_modules));
      }
      Paragraph(line);
      for (const Note& note : report.notes) {
        if (ClassOf(note.kind) == NoteClass::kTold) {
          Paragraph(NoteLine(note, options_.flag), 2, kWarningStyle);
        }
      }
      for (const NoteClass of : {NoteClass::kDropped, NoteClass::kRepaired, NoteClass::kSkipped}) {
        NotTaken(report, of);
      }
    }
  }

  void NotTaken(const ImportReport& report, NoteClass of) {
    for (const Note& note : report.notes) {
      if (ClassOf(note.kind) != of) continue;
      const std::string line =
          fmt::format("{} {}: {} (first at byte {})", NoteClassName(of), FormatCount(note.count),
                      NoteWords(note, options_.flag), note.first_byte.value_or(0));
      Paragraph(line, 2, of == NoteClass::kDropped ? kWarningStyle : kDimStyle);
    }
  }
};

}  // namespace

std::string WriteHead(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Head();
}

std::string WriteBalances(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Balances();
}

std::string WriteSummary(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Summary();
}

std::string WriteTable(const AccountReport& report, const ViewOptions& options) {
  return WriteHead(report, options) + TableWriter(report, options).Body() +
         WriteBalances(report, options);
}

}  // namespace beryl::views
