#include "types/time_window.h"

#include <array>
#include <cstdio>
#include <optional>

namespace beryl {
namespace {

Seconds Since(const TimeWindow& window, Nanos time) { return ToSeconds(time - window.run_start); }

std::string SecondsText(Seconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g s", time.value);
  return text.data();
}

}  // namespace

std::string WindowText(const TimeWindow& window) {
  std::string steps;
  if (!window.steps.empty()) {
    const bool several = window.steps.find('-') != std::string::npos;
    steps = (several ? "steps " : "step ") + window.steps + ", ";
  }
  return steps + SecondsText(Since(window, window.from)) + " to " +
         SecondsText(Since(window, window.to)) + " of the run";
}

void WriteWindow(JsonWriter& json, const TimeWindow& window) {
  json.Key("window").BeginObject();
  json.Member("from_s", Since(window, window.from).value);
  json.Member("to_s", Since(window, window.to).value);
  json.Member("from_us", static_cast<double>(window.from.value) * 1e-3);
  json.Member("to_us", static_cast<double>(window.to.value) * 1e-3);
  json.Member("steps", window.steps.empty() ? std::nullopt : std::optional(window.steps));
  json.End();
}

}  // namespace beryl
