#include "flows/run_request.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::flows {
namespace {

Result<std::pair<std::string, std::string>> SplitAtEquals(const std::string& text,
                                                          const char* subject,
                                                          std::string_view option,
                                                          const char* expected) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return MisuseError(fmt::format("{} '{}': expected {}", subject, text, expected), {option});
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace

Status AddAnchors(const std::vector<std::string>& texts, account::AccountOptions& options) {
  for (const std::string& text : texts) {
    const auto parts = TRY(SplitAtEquals(text, "anchor", "anchor", "OPS_US=POWER_US"));
    const auto local = ParseMicros(parts.first);
    const auto epoch = ParseMicros(parts.second);
    if (!local || !epoch) {
      return MisuseError(fmt::format("anchor '{}': expected two numbers of microseconds", text),
                         {"anchor"});
    }
    options.anchors.push_back({*local, *epoch});
  }
  return {};
}

Status AddIdlePower(const std::vector<std::string>& texts, account::AccountOptions& options) {
  constexpr const char* kExpected = "WATTS or DEVICE=WATTS";
  for (const std::string& text : texts) {
    std::pair<std::string, std::string> parts = {"all", text};
    if (text.find('=') != std::string::npos) {
      parts = TRY(SplitAtEquals(text, "idle power", "idle_power", kExpected));
    }
    const auto value = ParseNumber(parts.second);
    if (!value || *value < 0) {
      return MisuseError(fmt::format("idle power '{}': expected {}", text, kExpected),
                         {"idle_power"});
    }
    options.idle_power[parts.first] = Watts{*value};
  }
  return {};
}

Status AddFeeds(const std::vector<std::string>& texts, account::AccountOptions& options) {
  for (const std::string& text : texts) {
    const auto parts = TRY(SplitAtEquals(
        text, "feed", "feed", "CHANNEL=DEVICE[,DEVICE...], CHANNEL=all or CHANNEL=none"));
    for (const std::string_view device : Split(parts.second, ',')) {
      options.feeds[parts.first].emplace_back(device);
    }
  }
  return {};
}

Result<RunOptions> RunOptionsOf(const RunRequest& request) {
  RunOptions options;
  options.import.format = request.ops_format;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.import.threads = request.threads.value_or(0) > 0 ? *request.threads : cores;
  options.part = TRY(ParseWindow(request.window));
  if (request.wrap_uj) options.power.wrap_uj = *request.wrap_uj;
  if (request.only_ours) options.energy_of = EnergyOf::kOurs;
  if (request.whole_machine) options.energy_of = EnergyOf::kMachine;
  account::AccountOptions& account = options.account;
  account.threads = options.import.threads;
  account.policy = request.policy;
  account.align_starts = request.align == "start";
  if (!request.clock_offset_us.empty()) {
    account.clock_offset = ParseMicros(request.clock_offset_us);
    if (!account.clock_offset) {
      return MisuseError(fmt::format("clock offset '{}': expected a number of microseconds",
                                     request.clock_offset_us),
                         {"clock_offset_us"});
    }
  }
  TRY(AddAnchors(request.anchors, account));
  TRY(AddIdlePower(request.idle_power, account));
  TRY(AddFeeds(request.feeds, account));
  return options;
}

}  // namespace beryl::flows
