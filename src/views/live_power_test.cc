#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "views/views.h"

namespace beryl::views {
namespace {

using testing::HasSubstr;
using testing::Not;

LivePower Machine() {
  LivePower power;
  power.provenance.tool = "beryl";
  power.provenance.version = "0.1.0";
  power.host = "box";
  power.start = Nanos{1'000};
  power.time = Nanos{2'000};
  LiveChannel package;
  package.channel.name = "CPU:0";
  package.channel.scope = ChannelScope::kPackage;
  package.channel.meter.source = "rapl-perf";
  package.energy = Joules{12.5};
  package.power = Watts{40};
  LiveChannel core = package;
  core.channel.name = "CORE:0";
  core.channel.scope = ChannelScope::kCore;
  core.within = "CPU:0";
  core.power = std::nullopt;
  LiveChannel wall;
  wall.channel.name = "wall";
  wall.channel.scope = ChannelScope::kWall;
  wall.channel.meter.origin = Origin::kEstimated;
  power.channels = {package, core, wall};
  LiveSession session;
  session.id = 3;
  session.name = "a \"b\"\n\\c";
  session.devices = {{"CPU:0", Origin::kMeasured, "rapl-perf", Joules{4}, Joules{1.5}}};
  power.sessions = {session};
  power.sessions_started = 9;
  return power;
}

TEST(Prometheus, HasTheNamesOfTheConventions) {
  const std::string text = WritePrometheus(Machine());
  EXPECT_THAT(text, HasSubstr("# HELP hw_energy_joules_total "));
  EXPECT_THAT(text, HasSubstr("# TYPE hw_energy_joules_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# UNIT hw_power_watts watts\n"));
  EXPECT_THAT(text, HasSubstr("hw_energy_joules_total{hw_id=\"CPU:0\",hw_type=\"cpu\",beryl_origin="
                              "\"measured\",beryl_source=\"rapl-perf\"} 12.5\n"));
  EXPECT_THAT(text, HasSubstr("hw_power_watts{hw_id=\"CPU:0\""));
  EXPECT_THAT(text, HasSubstr("hw_parent=\"CPU:0\"} 12.5\n"));
  EXPECT_THAT(text, HasSubstr("beryl_sessions_started_total 9\n"));
}

TEST(Prometheus, LeavesOutWhatIsNotKnown) {
  const std::string text = WritePrometheus(Machine());
  EXPECT_THAT(text, Not(HasSubstr("wall")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("hw_power_watts{hw_id=\"CORE:0\"")));
}

TEST(Prometheus, EscapesWhatClientsCallTheirSessions) {
  EXPECT_THAT(
      WritePrometheus(Machine()),
      HasSubstr("beryl_session_ours_joules_total{session=\"3\",name=\"a \\\"b\\\"\\n\\\\c\""));
}

TEST(Prometheus, CountsSessionsThatNothingIsToldOf) {
  LivePower power = Machine();
  power.sessions[0].devices.clear();
  const std::string text = WritePrometheus(power);
  EXPECT_THAT(text, HasSubstr("beryl_sessions 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("beryl_session_")));
}

TEST(Otlp, IsWhatCollectorsTake) {
  const std::string text = WriteOtlp(Machine());
  EXPECT_THAT(text, HasSubstr("{\"key\":\"service.name\",\"value\":{\"stringValue\":\"beryl\"}}"));
  EXPECT_THAT(text, HasSubstr("{\"key\":\"host.name\",\"value\":{\"stringValue\":\"box\"}}"));
  EXPECT_THAT(text, HasSubstr("\"name\":\"hw.energy\",\"unit\":\"J\""));
  EXPECT_THAT(text, HasSubstr("\"aggregationTemporality\":2,\"isMonotonic\":true"));
  EXPECT_THAT(text, HasSubstr("\"name\":\"hw.power\",\"unit\":\"W\""));
  EXPECT_THAT(text, HasSubstr("\"startTimeUnixNano\":\"1000\",\"timeUnixNano\":\"2000\""));
  EXPECT_THAT(text, Not(HasSubstr("null")));
  EXPECT_THAT(text, Not(HasSubstr("wall")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
}

}  // namespace
}  // namespace beryl::views
