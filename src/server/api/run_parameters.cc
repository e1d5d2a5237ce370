#include "server/api/run_parameters.h"

#include <fmt/format.h>

#include "base/text.h"
#include "flows/option_words.h"
#include "types/library_json.h"

namespace beryl::server {
namespace {

constexpr int64_t kLargestPage = 1000;
constexpr int kUsualPage = 100;

std::optional<Nanos> AskForTime(Parameters& parameters, std::string_view name) {
  const std::string text = parameters.Text(name);
  if (text.empty()) return std::nullopt;
  const auto time = ParseTimeText(text);
  if (!time) {
    parameters.Refuse(
        name, fmt::format("'{}': expected 2026-11-18 or 2026-11-18T01:32:48Z", Printable(text)));
  }
  return time;
}

}  // namespace

flows::RunRequest AskForAccounting(Parameters& parameters) {
  flows::RunRequest asked;
  asked.policy = parameters.Choice("policy", flows::PolicyWords(), asked.policy);
  asked.clock_offset_us = parameters.Text("clock_offset_us");
  asked.align = parameters.Word("align", {"start"});
  asked.anchors = parameters.Texts("anchor");
  if (!asked.align.empty() && !asked.clock_offset_us.empty()) {
    parameters.Refuse("align", "contradicts clock_offset_us");
  }
  if (!asked.anchors.empty() && (!asked.align.empty() || !asked.clock_offset_us.empty())) {
    parameters.Refuse("anchor", "contradicts align and clock_offset_us");
  }
  asked.idle_power = parameters.Texts("idle_power");
  asked.feeds = parameters.Texts("feed");
  asked.wrap_uj = parameters.Number("wrap_uj", 0);
  asked.only_ours = parameters.Flag("only_ours");
  asked.whole_machine = parameters.Flag("whole_machine");
  if (asked.only_ours && asked.whole_machine) {
    parameters.Refuse("only_ours", "contradicts whole_machine");
  }
  return asked;
}

flows::WindowRequest AskForWindow(Parameters& parameters, std::string_view to) {
  return {parameters.Text("from"), parameters.Text(to), to, parameters.Text("step")};
}

std::optional<Phase> AskForPhase(Parameters& parameters) {
  return parameters.Choice("phase", flows::PhaseWords(), std::optional<Phase>());
}

EntryFilter AskForFilter(Parameters& parameters, EntryKind kind) {
  EntryFilter filter;
  filter.kind = kind;
  filter.tags = parameters.Texts("tag");
  filter.model = parameters.Text("model");
  filter.machine = parameters.Text("machine");
  filter.text = parameters.Text("search");
  filter.since = AskForTime(parameters, "since");
  filter.until = AskForTime(parameters, "until");
  return filter;
}

EntryFilter AskForRanked(Parameters& parameters) {
  EntryFilter filter = AskForFilter(
      parameters, parameters.Choice<EntryKind>(
                      "kind", {{"run", EntryKind::kRun}, {"prediction", EntryKind::kPrediction}},
                      EntryKind::kPrediction));
  filter.profile = parameters.Text("profile");
  return filter;
}

LibraryEntry AskForWords(Parameters& parameters) {
  LibraryEntry said;
  said.name = parameters.Text("name");
  said.tags = parameters.Texts("tag");
  said.notes = parameters.Text("notes");
  return said;
}

PageRequest AskForPage(Parameters& parameters) {
  PageRequest page;
  page.size =
      static_cast<int>(parameters.Whole("max_results", 1, kLargestPage).value_or(kUsualPage));
  page.token = parameters.Text("page_token");
  return page;
}

}  // namespace beryl::server
