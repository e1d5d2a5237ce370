// What WritePprof writes is read back, all of it, by the names and numbers of pprof's
// profile.proto.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "base/text.h"
#include "base/wire_reader.h"
#include "views/export.h"
#include "views/report_testing.h"

namespace beryl::views {
namespace {

// The fields of one message, by number.
struct Message {
  std::map<uint32_t, std::vector<uint64_t>> numbers;
  std::map<uint32_t, std::vector<std::string>> bytes;

  // 0 if it is not there, as the format has it.
  uint64_t Number(uint32_t field) const {
    const auto found = numbers.find(field);
    if (found == numbers.end()) return 0;
    EXPECT_THAT(found->second, SizeIs(1)) << "field " << field << " is there once at most";
    return found->second.front();
  }
  std::vector<std::string> All(uint32_t field) const {
    const auto found = bytes.find(field);
    return found == bytes.end() ? std::vector<std::string>() : found->second;
  }
};

// `fields`: those that the message may have.
Message Parse(std::string_view bytes, const std::set<uint32_t>& fields) {
  Message message;
  auto source = ByteSource::FromMemory(bytes, "pprof");
  WireReader reader(source);
  while (reader.Next()) {
    EXPECT_TRUE(fields.contains(reader.field())) << "field " << reader.field();
    if (reader.IsBytes()) {
      message.bytes[reader.field()].emplace_back(reader.Text(bytes.size()));
    } else {
      EXPECT_TRUE(reader.IsNumber());
      message.numbers[reader.field()].push_back(reader.Unsigned());
    }
  }
  EXPECT_TRUE(reader.defects().empty());
  EXPECT_FALSE(reader.truncated());
  EXPECT_EQ(reader.position(), bytes.size());
  return message;
}

// The numbers of a repeated field that is packed.
std::vector<uint64_t> Unpack(const Message& message, uint32_t field) {
  std::vector<uint64_t> numbers;
  for (const std::string& packed : message.All(field)) {
    uint64_t number = 0;
    int shift = 0;
    for (const char byte : packed) {
      number |= (static_cast<uint64_t>(byte) & 0x7F) << shift;
      shift += 7;
      if ((static_cast<unsigned char>(byte) & 0x80) != 0) continue;
      numbers.push_back(number);
      number = 0;
      shift = 0;
    }
    EXPECT_EQ(shift, 0) << "a number is cut short";
  }
  return numbers;
}

struct Profile {
  struct Sample {
    std::vector<std::string> stack;  // the innermost first
    uint64_t microjoules = 0;
    uint64_t nanoseconds = 0;
  };
  std::vector<std::pair<std::string, std::string>> sample_types;
  std::vector<Sample> samples;
  std::vector<std::string> comments;
  std::string default_sample_type;
  uint64_t time_ns = 0;
  uint64_t duration_ns = 0;
};

// Reads a profile and expects it to be sound: every reference leads somewhere, everything that is
// defined is defined once and is used, and every text can be shown.
class Decoder {
 public:
  explicit Decoder(const std::string& gzipped) {
    auto source = ByteSource::FromMemory(gzipped, "pprof");
    const auto bytes = ReadAll(source, size_t{1} << 30);
    EXPECT_TRUE(bytes.has_value());
    EXPECT_EQ(source.damage(), "");
    EXPECT_NE(*bytes, gzipped) << "it is compressed";
    message_ = Parse(*bytes, {1, 2, 4, 5, 6, 9, 10, 13, 14});
  }

  Profile Decode() {
    ReadStrings();
    ReadFunctions();
    ReadLocations();
    Profile profile;
    for (const std::string& bytes : message_.All(1)) {
      const Message type = Parse(bytes, {1, 2});
      profile.sample_types.emplace_back(Text(type.Number(1)), Text(type.Number(2)));
    }
    for (const std::string& bytes : message_.All(2)) profile.samples.push_back(SampleOf(bytes));
    for (const uint64_t id : Unpack(message_, 13)) profile.comments.push_back(Text(id));
    profile.default_sample_type = Text(message_.Number(14));
    profile.time_ns = message_.Number(9);
    profile.duration_ns = message_.Number(10);
    EXPECT_EQ(used_strings_.size(), strings_.size()) << "no text is there for nothing";
    EXPECT_EQ(used_locations_.size(), name_of_location_.size());
    EXPECT_EQ(used_functions_.size(), name_of_function_.size());
    return profile;
  }

 private:
  std::string Text(uint64_t id) {
    used_strings_.insert(id);
    EXPECT_LT(id, strings_.size());
    return id < strings_.size() ? strings_[id] : "";
  }

  void ReadStrings() {
    strings_ = message_.All(6);
    ASSERT_FALSE(strings_.empty());
    EXPECT_EQ(strings_[0], "") << "the format asks for that";
    used_strings_.insert(0);
    EXPECT_THAT(std::set<std::string>(strings_.begin(), strings_.end()), SizeIs(strings_.size()));
    for (const std::string& text : strings_) EXPECT_EQ(text, Printable(text));
  }

  void ReadFunctions() {
    for (const std::string& bytes : message_.All(5)) {
      const Message function = Parse(bytes, {1, 2, 3});
      const std::string name = Text(function.Number(2));
      EXPECT_NE(name, "");
      EXPECT_EQ(Text(function.Number(3)), name);
      EXPECT_NE(function.Number(1), 0U);
      EXPECT_TRUE(name_of_function_.emplace(function.Number(1), name).second) << "defined twice";
    }
  }

  void ReadLocations() {
    for (const std::string& bytes : message_.All(4)) {
      const Message location = Parse(bytes, {1, 4});
      const auto lines = location.All(4);
      ASSERT_THAT(lines, SizeIs(1));
      const uint64_t function = Parse(lines.front(), {1}).Number(1);
      const auto found = name_of_function_.find(function);
      ASSERT_NE(found, name_of_function_.end());
      used_functions_.insert(function);
      EXPECT_NE(location.Number(1), 0U);
      EXPECT_TRUE(name_of_location_.emplace(location.Number(1), found->second).second)
          << "defined twice";
    }
  }

  Profile::Sample SampleOf(const std::string& bytes) {
    const Message message = Parse(bytes, {1, 2});
    Profile::Sample sample;
    for (const uint64_t location : Unpack(message, 1)) {
      const auto found = name_of_location_.find(location);
      EXPECT_NE(found, name_of_location_.end());
      if (found != name_of_location_.end()) sample.stack.push_back(found->second);
      used_locations_.insert(location);
    }
    EXPECT_FALSE(sample.stack.empty());
    const std::vector<uint64_t> values = Unpack(message, 2);
    EXPECT_THAT(values, SizeIs(2)) << "one for each sample type";
    if (values.size() != 2) return sample;
    sample.microjoules = values[0];
    sample.nanoseconds = values[1];
    return sample;
  }

  Message message_;
  std::vector<std::string> strings_;
  std::map<uint64_t, std::string> name_of_function_;
  std::map<uint64_t, std::string> name_of_location_;
  std::set<uint64_t> used_strings_;
  std::set<uint64_t> used_functions_;
  std::set<uint64_t> used_locations_;
};

Profile Decode(const AccountReport& report, const std::vector<double>& self_s) {
  return Decoder(WritePprof(report, self_s)).Decode();
}

// A tree of many nodes whose names repeat, within a stack too; some energies are not known, and all
// are no whole numbers of microjoules.
AccountReport MakeLargeReport(size_t nodes) {
  AccountReport report = MakeReport();
  std::mt19937_64 random(7);
  auto below = [&](uint64_t limit) { return random() % limit; };
  TreeColumns& tree = report.tree;
  tree.tree.nodes.resize(1);
  Column& energy = tree.columns.front();
  energy.self = {1.25e-7};
  NodeId parent = 0;
  while (tree.tree.nodes.size() < nodes) {
    // Up some levels and down one: pre-order, as trees have it.
    for (uint64_t up = below(3); up > 0; --up) parent = tree.tree.nodes[parent].parent;
    TreeNode node;
    node.parent = parent;
    node.name = fmt::format("part {}", below(12));
    parent = static_cast<NodeId>(tree.tree.nodes.size());
    tree.tree.nodes.push_back(node);
    energy.self.push_back(below(10) == 0 ? std::nan("") : static_cast<double>(below(1000)) / 7e6);
  }
  return report;
}

double KnownSum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0, [](double sum, double value) {
    return std::isnan(value) ? sum : sum + value;
  });
}

TEST(PprofTest, SaysWhatIsCountedAndWhoCounted) {
  const AccountReport report = MakeReport();
  const Profile profile = Decode(report, std::vector<double>(report.tree.tree.nodes.size(), 1));
  EXPECT_THAT(profile.sample_types,
              ElementsAre(Pair("energy", "microjoules"), Pair("time", "nanoseconds")));
  EXPECT_EQ(profile.default_sample_type, "energy");
  EXPECT_THAT(profile.comments,
              ElementsAre("beryl test; a box; from /tmp/layer_*; 2026-11-18T01:32:48Z",
                          "measured: layer_* from power.csv"));
  EXPECT_EQ(profile.time_ns, 0U);
  EXPECT_EQ(profile.duration_ns, 2'000'000'000U);
}

TEST(PprofTest, StacksReadFromLeafToRoot) {
  const Profile profile = Decode(MakeReport(), {0, 0, 2, 0, 7});
  ASSERT_THAT(profile.samples, SizeIs(2));
  EXPECT_THAT(profile.samples[0].stack, ElementsAre("MatMul", "layer_*", "model"));
  EXPECT_EQ(profile.samples[0].microjoules, 4'000'000U);
  EXPECT_EQ(profile.samples[0].nanoseconds, 2'000'000'000U);
  EXPECT_THAT(profile.samples[1].stack, ElementsAre("Conv2D", "unmetered", "model"));
  EXPECT_EQ(profile.samples[1].microjoules, 0U);
  EXPECT_EQ(profile.samples[1].nanoseconds, 7'000'000'000U);
}

TEST(PprofTest, AddsUpToTheEnergyAttributed) {
  const AccountReport small = MakeReport();
  const AccountReport large = MakeLargeReport(500);
  for (const AccountReport* report : {&small, &large}) {
    const std::vector<double>& self = report->tree.columns.front().self;
    std::vector<double> seconds;
    for (size_t i = 0; i < self.size(); ++i)
      seconds.push_back(1e-9 * std::fmod(12.34 * static_cast<double>(i), 5));
    const Profile profile = Decode(*report, seconds);
    uint64_t microjoules = 0;
    uint64_t nanoseconds = 0;
    for (const Profile::Sample& sample : profile.samples) {
      EXPECT_GT(sample.microjoules + sample.nanoseconds, 0U) << "a sample of nothing";
      microjoules += sample.microjoules;
      nanoseconds += sample.nanoseconds;
    }
    EXPECT_EQ(microjoules, std::llround(1e6 * KnownSum(self)));
    EXPECT_EQ(nanoseconds, std::llround(1e9 * KnownSum(seconds)));
  }
  EXPECT_DOUBLE_EQ(KnownSum(small.tree.columns.front().self),
                   small.channels.front().attributed.value);
}

// The same stacks with the same weights as the export that a person can read, which leaves out the
// root and reads from there.
TEST(PprofTest, HasTheStacksOfTheFoldedExport) {
  const AccountReport report = MakeLargeReport(500);
  const Profile profile = Decode(report, std::vector<double>(500, 0));
  std::vector<std::string> lines;
  for (const Profile::Sample& sample : profile.samples) {
    std::vector<std::string> stack(sample.stack.rbegin(), sample.stack.rend());
    EXPECT_EQ(stack.front(), "model");
    if (stack.size() > 1) stack.erase(stack.begin());
    lines.push_back(fmt::format("{} {}", fmt::join(stack, ";"), sample.microjoules));
  }
  std::string folded = WriteFoldedStacks(report);
  folded.pop_back();
  EXPECT_THAT(Split(folded, '\n'), UnorderedElementsAreArray(lines));
  EXPECT_THAT(lines, SizeIs(::testing::Gt(300U)));
}

TEST(PprofTest, IsSoundWhateverTheNames) {
  for (const std::string& name : HostileNames()) {
    const AccountReport report = MakeReport(name);
    const Profile profile = Decode(report, std::vector<double>(5, 1));
    ASSERT_THAT(profile.samples, SizeIs(5)) << name;
    const std::string shown = name.empty() ? "?" : Printable(name);
    EXPECT_THAT(profile.samples[2].stack, ElementsAre("MatMul", shown, "model"));
  }
}

TEST(PprofTest, NothingToTellIsAProfileWithoutSamples) {
  AccountReport report = MakeReport();
  for (double& joules : report.tree.columns.front().self) joules = std::nan("");
  EXPECT_THAT(Decode(report, std::vector<double>(5, 0)).samples, SizeIs(0));
  report.channels.clear();
  EXPECT_EQ(Decode(report, std::vector<double>(5, 0)).duration_ns, 0U);
}

}  // namespace
}  // namespace beryl::views
