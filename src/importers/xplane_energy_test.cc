// tests/exports/run.py compares copies of whole files, by the messages in them.
#include <bit>

#include "base/wire_for_test.h"
#include "base/wire_reader.h"
#include "importers/import_for_test.h"

namespace beryl::importers {
namespace {

std::string Event(int64_t start, const std::string& stats = "") {
  return WireBytes(4,
                   WireNumber(1, 1) + WireNumber(2, start * 1000) + WireNumber(3, 50'000) + stats);
}

std::string Space(const std::string& events, const std::string& stat_names = "") {
  const std::string line = WireBytes(3, WireNumber(1, 1) + WireBytes(2, "a") + events);
  const std::string name =
      WireBytes(4, WireNumber(1, 1) +
                       WireBytes(2, WireNumber(1, 1) + WireBytes(2, "net/dense/MatMul:MatMul")));
  return WireBytes(4, "host before") +
         WireBytes(1, WireBytes(2, "/host:CPU") + line + name + stat_names) +
         WireBytes(4, "host behind");
}

std::string StatName(int64_t id, std::string_view name) {
  return WireBytes(5, WireNumber(1, id) + WireBytes(2, WireNumber(1, id) + WireBytes(2, name)));
}

struct ReadSpace {
  std::vector<uint64_t> offsets;
  ImportReport report;
};

ReadSpace Read(const std::string& space) {
  auto source = ByteSource::FromMemory(space, "space");
  ReadSpace read;
  ImportOptions options;
  options.event_offsets = &read.offsets;
  OpTrace trace;
  EXPECT_TRUE(Import(source, options, trace).has_value());
  EXPECT_EQ(read.offsets.size(), trace.ops.size());
  read.report = trace.reports.front();
  return read;
}

Result<std::string> CopyWith(const std::string& space, const std::vector<double>& energies) {
  std::vector<EventEnergy> events;
  const ReadSpace read = Read(space);
  for (size_t i = 0; i < energies.size(); ++i) events.push_back({read.offsets[i], energies[i]});
  auto first = ByteSource::FromMemory(space, "space");
  const Splice splice = TRY(PlanXPlaneEnergy(first, read.report, events, "what it is"));
  auto again = ByteSource::FromMemory(space, "space");
  std::string copy;
  TRY(splice.Copy(again, [&](std::string_view bytes) -> Status {
    copy += bytes;
    return {};
  }));
  return copy;
}

std::string Energy(int64_t id, double energy) {
  std::string bytes = WireNumber(1, id) + WireTag(2, 1);
  const auto bits = std::bit_cast<uint64_t>(energy);
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(bits >> shift);
  return WireBytes(4, bytes);
}

TEST(XPlaneEnergyTest, NothingElseChanges) {
  const std::string known = StatName(6, "flops");
  const std::string name =
      WireBytes(5, WireNumber(1, 7) + WireBytes(2, WireNumber(1, 7) + WireBytes(2, "vdd_energy_j") +
                                                       WireBytes(3, "what it is")));
  const std::string flops = WireBytes(4, WireNumber(1, 6) + WireNumber(4, 99));
  const auto copy =
      CopyWith(Space(Event(100) + Event(200, flops) + Event(300), known), {0.5, 0.25});
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(*copy,
            Space(Event(100, Energy(7, 0.5)) + Event(200, flops + Energy(7, 0.25)) + Event(300),
                  known + name));
}

TEST(XPlaneEnergyTest, LengthsMayGrowLonger) {
  std::string events;
  std::vector<double> energies;
  for (int i = 0; i < 2000; ++i) {
    // Around 127 bytes, where the length of an event takes a second one.
    const std::string stat(static_cast<size_t>(60 + i % 80), 'x');
    events += Event(100 * (i + 1), WireBytes(4, WireNumber(1, 6) + WireBytes(5, stat)));
    energies.push_back(i * 0.125);
  }
  const std::string space = Space(events, StatName(6, "text"));
  const auto copy = CopyWith(space, energies);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(Read(*copy).offsets.size(), 2000U);
  auto source = ByteSource::FromMemory(*copy, "copy");
  WireReader reader(source);
  size_t fields = 0;
  while (reader.Next()) ++fields;
  EXPECT_TRUE(reader.defects().empty());
  EXPECT_EQ(fields, 3U);
  const auto twice = CopyWith(*copy, energies);
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(twice.error().message, HasSubstr("has vdd_energy_j already"));
}

TEST(XPlaneEnergyTest, ADamagedFileIsNotCopied) {
  const std::string space = Space(Event(100) + Event(200));
  const ReadSpace whole = Read(space);
  const std::string cut = space.substr(0, whole.offsets[1] + 4);
  auto source = ByteSource::FromMemory(cut, "cut");
  EXPECT_FALSE(PlanXPlaneEnergy(source, whole.report, {{whole.offsets[0], 1}}, "").has_value());
}

TEST(XPlaneEnergyTest, AStatWhoseNumberDoesNotEndIsDamage) {
  const std::string endless = WireBytes(4, WireNumber(1, 1) + "\x20\x9a");
  const auto copy = CopyWith(Space(Event(100, endless) + Event(200)), {0.5});
  ASSERT_FALSE(copy.has_value());
  EXPECT_THAT(copy.error().message, HasSubstr("the file is damaged"));
}

}  // namespace
}  // namespace beryl::importers
