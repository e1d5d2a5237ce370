// docs/grafana/beryl.json asks for metrics by name. Those that are served are here.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/matchers_for_test.h"
#include "base/text.h"
#include "views/views.h"

namespace beryl::views {
namespace {

// A machine of which everything is known.
LivePower WholeMachine() {
  LivePower power;
  LiveChannel core;
  core.channel.name = "CORE:0";
  core.channel.scope = ChannelScope::kCore;
  core.within = "CPU:0";
  core.energy = Joules{1};
  core.power = Watts{1};
  power.channels = {core};
  LiveSession session;
  session.devices = {{"CPU:0", Origin::kMeasured, "rapl-perf", Joules{4}, Joules{1.5}}};
  power.sessions = {session};
  return power;
}

// The text of everything that serves metrics for the dashboard.
std::vector<std::string> Served() { return {WritePrometheus(WholeMachine())}; }

std::set<std::string> Matches(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

TEST(DashboardTest, AsksOnlyForWhatIsServed) {
  std::set<std::string> names;
  for (const std::string& text : Served()) {
    names.merge(Matches(text, "# TYPE ([a-z_]+) "));
    names.merge(Matches(text, "[{,]([a-z_]+)=\""));
  }
  auto file = ByteSource::Open("docs/grafana/beryl.json");
  ASSERT_TRUE(file.has_value());
  const std::string dashboard = *ReadAll(*file, size_t{1} << 22);
  std::set<std::string> asked;
  for (const std::string_view line : Split(dashboard, '\n')) {
    if (line.find("\"expr\": ") == std::string_view::npos) continue;
    asked.merge(Matches(std::string(line), "\\b((?:hw|beryl)_[a-z_]+)"));
  }
  EXPECT_THAT(asked, SizeIs(Gt(10)));
  for (const std::string& name : asked) {
    // tests/server/run.py asks the server for these.
    if (name.starts_with("beryl_http_") || name.starts_with("beryl_server_")) continue;
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace beryl::views
