#include "server/published_samples.h"

#include <gtest/gtest.h>

#include "base/wire_reader.h"

namespace beryl::server {
namespace {

using sources::MeterReading;
using sources::ReadState;

constexpr int64_t kStart = 1'700'000'000'000'000'000;

PowerChannel Channel(const std::string& name, const std::string& source, ChannelKind kind,
                     double per_count, std::optional<uint64_t> wrap = {}) {
  PowerChannel channel;
  channel.name = name;
  channel.scope = ScopeOfName(name);
  channel.kind = kind;
  channel.meter.source = source;
  channel.meter.per_count = per_count;
  channel.meter.wrap = wrap;
  return channel;
}

PowerChannel Rapl(const std::string& name, std::optional<uint64_t> wrap = {}) {
  return Channel(name, "rapl-powercap", ChannelKind::kEnergyCounter, 1e-6, wrap);
}

MeterReading Count(uint64_t count) { return {ReadState::kOk, count}; }

std::string BytesOf(PublishedSamples& spool) {
  EXPECT_TRUE(spool.Flush());
  std::string bytes(spool.bytes(), '\0');
  EXPECT_TRUE(spool.file().Read(0, bytes));
  return bytes;
}

PublishedSamples Open(const std::vector<PowerChannel>& channels, uint64_t most = UINT64_MAX,
                      bool parts = false) {
  auto spool = PublishedSamples::Create(channels, {"", 10, 1, Nanos{4'000'000}, most, parts});
  EXPECT_TRUE(spool);
  return std::move(*spool);
}

// 1,700,000,000,000 ms since the epoch as a varint.
const std::string kTime = "\x80\xd0\x95\xff\xbc\x31";

// rapl { timestamp, reading }
std::string RaplSample(const std::string& reading) {
  const std::string sample = "\x08" + kTime + "\x12" + static_cast<char>(reading.size()) + reading;
  return std::string("\x0a") + static_cast<char>(sample.size()) + sample;
}

TEST(PublishedSamples, WritesRaplByTheNumbersOfThePublishedFields) {
  PublishedSamples spool =
      Open({Rapl("CPU:0"), Rapl("CORE:0"), Rapl("UNCORE:0"), Rapl("DRAM:0")}, UINT64_MAX, true);
  const MeterReading readings[] = {Count(1), Count(2), Count(3), Count(4)};
  spool.OnPower(Nanos{kStart}, readings);
  // { socket: 0, package: 1, cpu: 2, gpu: 3, dram: 4 }
  EXPECT_EQ(BytesOf(spool),
            RaplSample(std::string("\x08\x00\x18\x01\x10\x02\x28\x03\x20\x04", 10)));
}

TEST(PublishedSamples, UndoesWraps) {
  PublishedSamples spool = Open({Rapl("CPU:1", 100)});
  int64_t time = kStart;
  for (const uint64_t count : {90, 10, 50, 20}) {
    spool.OnPower(Nanos{time}, std::vector{Count(count)});
    time += 4'000'000;
  }
  const std::string bytes = BytesOf(spool);
  // The last: 90 -> 110 -> 150 -> 220 of socket 1.
  EXPECT_NE(bytes.find(std::string("\x08\x01\x18\xdc\x01", 5)), std::string::npos);
}

TEST(PublishedSamples, AResetIsNoWrap) {
  PublishedSamples spool = Open({Rapl("CPU:1", 262'143'328'850)});
  int64_t time = kStart;
  for (const uint64_t count : {90, 100, 20}) {
    spool.OnPower(Nanos{time}, std::vector{Count(count)});
    time += 4'000'000;
  }
  // The last: 90 -> 100 -> 120, and not 262 kJ more.
  EXPECT_NE(BytesOf(spool).find(std::string("\x08\x01\x18\x78", 4)), std::string::npos);
}

TEST(PublishedSamples, LeavesOutWhatCouldNotBeRead) {
  PublishedSamples spool = Open({Rapl("CPU:0"), Rapl("DRAM:0")});
  const MeterReading half[] = {Count(7), {ReadState::kGone, 0}};
  spool.OnPower(Nanos{kStart}, half);
  EXPECT_NE(BytesOf(spool).find(std::string("\x12\x04\x08\x00\x18\x07", 6)), std::string::npos);
  PublishedSamples silent = Open({Rapl("CPU:0")});
  silent.OnPower(Nanos{kStart}, std::vector<MeterReading>{{ReadState::kRetry, 0}});
  EXPECT_EQ(BytesOf(silent), "");
}

TEST(PublishedSamples, TheEstimateIsNoRapl) {
  PublishedSamples spool = Open({Channel("CPU:0", "estimate", ChannelKind::kEnergyCounter, 1e-6)});
  spool.OnPower(Nanos{kStart}, std::vector{Count(5)});
  EXPECT_EQ(BytesOf(spool), "");
}

TEST(PublishedSamples, GivesMilliwattsOfAGauge) {
  PublishedSamples spool = Open({Channel("GPU:1", "nvml", ChannelKind::kPowerGauge, 1e-3)});
  spool.OnPower(Nanos{kStart}, std::vector{Count(300)});
  // nvml { timestamp, reading { bus_id: "GPU:1", power_usage: 300, index: 1 } }
  const std::string reading = "\x0a\x05GPU:1\x10\xac\x02\x18\x01";
  const std::string sample = "\x08" + kTime + "\x12" + static_cast<char>(reading.size()) + reading;
  EXPECT_EQ(BytesOf(spool), "\x2a" + std::string(1, static_cast<char>(sample.size())) + sample);
}

TEST(PublishedSamples, WorksOutMilliwattsOfACounter) {
  PublishedSamples spool = Open({Channel("GPU:0", "nvml", ChannelKind::kEnergyCounter, 1e-3)});
  spool.OnPower(Nanos{kStart}, std::vector{Count(1000)});
  EXPECT_EQ(spool.bytes(), 0u);  // no power is known yet
  spool.OnPower(Nanos{kStart + 100'000'000}, std::vector{Count(21'000)});
  // 20 J in 0.1 s are 200,000 mW.
  EXPECT_NE(BytesOf(spool).find(std::string("\x10\xc0\x9a\x0c", 4)), std::string::npos);
}

TEST(PublishedSamples, KeepsToItsPeriodIfTheSamplerIsFaster) {
  PublishedSamples spool = Open({Rapl("CPU:0")});
  for (int i = 0; i < 40; ++i) {
    spool.OnPower(Nanos{kStart + i * 1'000'000}, std::vector{Count(1)});
  }
  const std::string bytes = BytesOf(spool);
  EXPECT_EQ(bytes.size() / 15, 10u);  // a sample is 15 bytes, every fourth is written
}

TEST(PublishedSamples, ListsTheThreadsOfItsProcessOnly) {
  PublishedSamples spool = Open({});
  spool.OnTaskBirth({0, 1, 10, 10, "main"});
  spool.OnTaskBirth({1, 1, 10, 11, "worker"});
  spool.OnTaskBirth({2, 1, 99, 99, "child"});
  spool.OnTaskBirth({3, 2, 10, 10, "of another session"});
  spool.OnTaskBirth({4, 1, 10, 0, "rest"});
  const sources::CpuJiffies cpu{0, 0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  const sources::TaskSample tasks[] = {
      {0, 0, 5, 1, 2}, {1, 3, 5, 4, 0}, {2, 0, 5, 9, 9}, {3, 0, 5, 9, 9}, {4, 0, 5, 9, 9}};
  spool.OnActivity(Nanos{kStart}, std::span(&cpu, 1), tasks);
  const std::string cpu_reading = std::string(
      "\x08\x00\x10\x01\x18\x02\x20\x03\x28\x04\x30\x05\x38\x06\x40\x07\x48\x08\x50\x09"
      "\x58\x0a\x60\x00",
      24);
  const std::string cpu_sample = "\x08" + kTime + "\x12\x18" + cpu_reading;
  const std::string task_readings = std::string("\x12\x08\x08\x0a\x18\x00\x20\x01\x28\x02", 10) +
                                    std::string("\x12\x08\x08\x0b\x18\x03\x20\x04\x28\x00", 10);
  const std::string process_sample = "\x08" + kTime + task_readings;
  EXPECT_EQ(BytesOf(spool),
            "\x12" + std::string(1, static_cast<char>(cpu_sample.size())) + cpu_sample + "\x1a" +
                std::string(1, static_cast<char>(process_sample.size())) + process_sample);
}

TEST(PublishedSamples, StopsAtItsLimit) {
  PublishedSamples spool = Open({Rapl("CPU:0")}, 100);
  for (int i = 0; i < 100; ++i) {
    spool.OnPower(Nanos{kStart + i * 4'000'000}, std::vector{Count(1)});
  }
  EXPECT_TRUE(spool.is_full());
  EXPECT_LE(BytesOf(spool).size(), 100u);
}

TEST(PublishedSamples, LeavesOutWhatClientsWouldCountTwice) {
  PublishedSamples spool = Open({Rapl("CPU:0"), Rapl("CORE:0"), Rapl("UNCORE:0"), Rapl("DRAM:0")});
  const MeterReading readings[] = {Count(1), Count(2), Count(3), Count(4)};
  spool.OnPower(Nanos{kStart}, readings);
  EXPECT_EQ(BytesOf(spool), RaplSample(std::string("\x08\x00\x18\x01\x20\x04", 6)));
}

TEST(PublishedSamples, TheLastSampleOfEveryKindCounts) {
  PublishedSamples spool = Open({Rapl("CPU:0")});
  spool.OnTaskBirth({0, 1, 10, 10, "main"});
  spool.OnTaskBirth({1, 1, 10, 11, "sleeper"});
  const sources::CpuJiffies cpu{0, 0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  const sources::TaskSample both[] = {{0, 0, 5, 1, 2}, {1, 3, 5, 4, 0}};
  const sources::TaskSample one[] = {{0, 0, 6, 2, 2}};
  spool.OnPower(Nanos{kStart}, std::vector{Count(1)});
  spool.OnActivity(Nanos{kStart}, std::span(&cpu, 1), both);
  const size_t first = BytesOf(spool).size();
  // A millisecond later, which is too soon for the period.
  spool.OnPower(Nanos{kStart + 1'000'000}, std::vector{Count(2)});
  spool.OnActivity(Nanos{kStart + 1'000'000}, std::span(&cpu, 1), one);
  EXPECT_EQ(BytesOf(spool).size(), first);
  EXPECT_TRUE(spool.Finish());
  const std::string last = BytesOf(spool).substr(first);
  const std::string later = "\x81\xd0\x95\xff\xbc\x31";
  EXPECT_EQ(last.find("\x0a" + std::string(1, 13) + "\x08" + later), 0u);  // rapl
  // Both threads, the one that ran and the one that did not.
  EXPECT_NE(last.find("\x08" + later +
                      std::string("\x12\x08\x08\x0a\x18\x00\x20\x02\x28\x02"
                                  "\x12\x08\x08\x0b\x18\x03\x20\x04\x28\x00",
                                  20)),
            std::string::npos);
}

TEST(PublishedSamples, LeavesOutThreadsThatSleepForLongUntilTheEnd) {
  PublishedSamples spool = Open({});
  spool.OnTaskBirth({0, 1, 10, 10, "main"});
  spool.OnTaskBirth({1, 1, 10, 11, "sleeper"});
  const sources::TaskSample both[] = {{0, 0, 5, 1, 2}, {1, 3, 5, 4, 0}};
  const sources::TaskSample one[] = {{0, 0, 6, 2, 2}};
  const std::string sleeper = std::string("\x12\x08\x08\x0b\x18\x03\x20\x04\x28\x00", 10);
  const auto count = [&] {
    const std::string bytes = BytesOf(spool);
    int found = 0;
    for (size_t at = 0; (at = bytes.find(sleeper, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  spool.OnActivity(Nanos{kStart}, {}, both);
  for (int64_t second = 1; second <= 30; ++second) {
    spool.OnActivity(Nanos{kStart + second * 1'000'000'000}, {}, one);
  }
  EXPECT_EQ(count(), 11);
  EXPECT_TRUE(spool.Finish());
  EXPECT_EQ(count(), 12);
}

}  // namespace
}  // namespace beryl::server
