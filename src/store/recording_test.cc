#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "base/matchers_for_test.h"
#include "store/load_for_test.h"
#include "store/recording_blocks.h"
#include "types/note_testing.h"

namespace beryl::store {
namespace {

constexpr int64_t kStart = 1'690'000'000'000'000'000;

struct Piece {
  PowerTrace power;
  Recording recording;
};

PowerChannel Counter(std::string name) {
  PowerChannel channel;
  channel.name = std::move(name);
  channel.scope = ScopeOfName(channel.name);
  channel.kind = ChannelKind::kEnergyCounter;
  channel.meter.source = "rapl-powercap";
  channel.meter.reads = "intel-rapl:0/energy_uj";
  channel.meter.unit = "uJ";
  channel.meter.per_count = 1e-6;
  channel.meter.wrap = 262'143'328'850;
  channel.meter.update_period_us = 998.5;
  channel.meter.within = "psys";
  channel.meter.moves = true;
  return channel;
}

// What a recorder gives: pieces of random length, with tasks that come and tasks that rest.
class Story {
 public:
  explicit Story(uint64_t seed) : random_(seed) {
    power_.channels = {Counter("CPU:0"), Counter("DRAM:0")};
    PowerChannel silent = Counter("psys");
    silent.meter = {};
    silent.meter.origin = Origin::kEstimated;
    silent.meter.error = 0.5;
    silent.meter.moves = false;
    power_.channels.push_back(silent);
    whole_.command = {"python3", "train.py", "--epochs", "3"};
    whole_.pids = {4711};
    whole_.machine = "Linux, 4 CPUs";
    whole_.period = Nanos{4'000'000};
    whole_.start = Nanos{kStart};
    whole_.activity.cpu_time = "schedstat";
    whole_.activity.cpu_package = {0, 0, 1, 1};
    whole_.notes = {{NoteKind::kCpusEstimated, "", {"rapl"}}};
    busy_.assign(4, 1'000'000'000'000);
  }

  Piece Next() {
    Piece piece;
    piece.power = Channels();
    for (size_t i = 0; i < 2; ++i) AddReadings(piece.power.channels[i], power_.channels[i]);
    piece.recording.activity.cpu_time = "schedstat";
    piece.recording.activity.cpu_package = whole_.activity.cpu_package;
    for (uint64_t births = random_() % 3; births > 0 || known_.empty(); births -= births > 0) {
      AddTask(piece.recording.activity);
    }
    for (uint64_t samples = random_() % 9; samples > 0; --samples) {
      AddSample(piece.recording.activity);
    }
    AddFeatures(piece.recording.features);
    return piece;
  }

  PowerTrace Channels() const {
    PowerTrace channels = power_;
    for (PowerChannel& channel : channels.channels) {
      channel.times = {};
      channel.values = {};
      channel.gaps = {};
    }
    return channels;
  }
  Recording Beginning() const {
    Recording recording = whole_;
    recording.pids = {};  // the command has not started
    recording.activity = {};
    recording.features = {};
    return recording;
  }
  Recording End() {
    whole_.end = Nanos{kStart + 60'000'000'000};
    whole_.exit_code = 137;
    whole_.cost = {Seconds{0.5}, Seconds{60}, 15'000, 3, 2, 1, 10.5, 900, 1e4, 9 << 20};
    whole_.notes.push_back({NoteKind::kClockSet, "", {2.5}});
    return whole_;
  }
  const PowerTrace& power() const { return power_; }
  const Recording& whole() const { return whole_; }

 private:
  void AddReadings(PowerChannel& piece, PowerChannel& all) {
    for (uint64_t left = random_() % 40; left > 0; --left) {
      const int64_t time = all.times.empty() ? kStart : all.times.back().value;
      const double value = all.values.empty() ? 0 : all.values.back();
      const Nanos next{time + 1 + static_cast<int64_t>(random_() % 8'000'000)};
      const double joules = value + static_cast<double>(random_() % 1000) * 1e-5;
      if (!all.times.empty() && random_() % 20 == 0) {
        const GapReason why =
            random_() % 2 == 0 ? GapReason::kCounterStoodStill : GapReason::kNotTold;
        piece.gaps.push_back({piece.times.size(), why});
        all.gaps.push_back({all.times.size(), why});
      }
      for (PowerChannel* channel : {&piece, &all}) {
        channel->times.push_back(next);
        channel->values.push_back(joules);
      }
    }
  }

  void AddTask(ActivityTrace& piece) {
    const auto tid = static_cast<int32_t>(5000 + known_.size());
    Task task{4711, tid, fmt::format("worker {}", tid),
              known_.empty() ? TaskOwner::kRecorder : TaskOwner::kWatched};
    known_.push_back({static_cast<uint32_t>(known_.size()), 0, 0});
    piece.tasks.push_back(task);
    whole_.activity.tasks.push_back(std::move(task));
  }

  void AddSample(ActivityTrace& piece) {
    clock_ += 1 + static_cast<int64_t>(random_() % 30'000'000);
    for (uint64_t& busy : busy_) busy += random_() % 20'000'000;
    for (ActivityTrace* trace : {&piece, &whole_.activity}) {
      if (trace->first_reading.empty()) trace->first_reading.push_back(0);
      trace->times.push_back(Nanos{kStart + clock_});
      trace->busy_ns.insert(trace->busy_ns.end(), busy_.begin(), busy_.end());
    }
    for (TaskReading& task : known_) {
      if (random_() % 3 == 0) continue;
      task.run_ns += random_() % 20'000'000;
      task.cpu = static_cast<uint16_t>(random_() % 4);
      piece.readings.push_back(task);
      whole_.activity.readings.push_back(task);
    }
    piece.first_reading.push_back(piece.readings.size());
    whole_.activity.first_reading.push_back(whole_.activity.readings.size());
  }

  void AddFeatures(FeatureTrace& piece) {
    for (FeatureTrace* trace : {&piece, &whole_.features}) {
      if (trace->columns.empty())
        trace->columns = {{"cpu_util", "", {}}, {"gpu_util", "GPU:0", {}}};
    }
    for (uint64_t left = random_() % 4; left > 0; --left) {
      feature_clock_ += 100'000'000;
      const double values[] = {static_cast<double>(random_() % 100), std::nan("")};
      for (FeatureTrace* trace : {&piece, &whole_.features}) {
        trace->times.push_back(Nanos{kStart + feature_clock_});
        for (size_t i = 0; i < 2; ++i) trace->columns[i].values.push_back(values[i]);
      }
    }
  }

  std::mt19937_64 random_;
  PowerTrace power_;
  Recording whole_;
  std::vector<TaskReading> known_;
  std::vector<uint64_t> busy_;
  int64_t clock_ = 0;
  int64_t feature_clock_ = 0;
};

// The bytes of a recording of `pieces`.
std::string Recorded(Story& story, int pieces) {
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("beryl-recording-{}.beryl", ::getpid());
  auto file = GrowingFile::Open(path);
  EXPECT_TRUE(file);
  auto writer = RecordingWriter::Start(*file, {}, story.Channels(), story.Beginning());
  EXPECT_TRUE(writer);
  for (int i = 0; i < pieces; ++i) {
    const Piece piece = story.Next();
    EXPECT_TRUE(writer->Append(piece.power, piece.recording));
  }
  EXPECT_TRUE(writer->Append(RunWindow{"round 1", Nanos{kStart + 5}, Nanos{kStart + 9}, true, 3}));
  EXPECT_TRUE(writer->Finish(story.End()));
  std::string bytes = BytesOfFile(path);
  std::filesystem::remove(path);
  return bytes;
}

// The first of `many` are `some`.
template <typename T, typename Same>
void ExpectBeginning(const std::vector<T>& some, const std::vector<T>& many, Same same) {
  ASSERT_LE(some.size(), many.size());
  for (size_t i = 0; i < some.size(); ++i) EXPECT_TRUE(same(some[i], many[i])) << i;
}

void ExpectBeginningOf(const StoredRun& run, const Story& story) {
  const auto equal = [](const auto& a, const auto& b) { return a == b; };
  for (size_t i = 0; i < run.power.channels.size(); ++i) {
    const PowerChannel& channel = run.power.channels[i];
    const PowerChannel& whole = story.power().channels[i];
    EXPECT_EQ(channel.times.size(), channel.values.size());
    ExpectBeginning(channel.times, whole.times, equal);
    ExpectBeginning(channel.values, whole.values, equal);
    ExpectBeginning(channel.gaps, whole.gaps, equal);
    EXPECT_EQ(channel.meter.source, whole.meter.source);
    EXPECT_EQ(channel.meter.wrap, whole.meter.wrap);
    EXPECT_EQ(channel.meter.within, whole.meter.within);
    EXPECT_EQ(channel.meter.moves, whole.meter.moves);
    EXPECT_EQ(channel.meter.origin, whole.meter.origin);
  }
  if (!run.recording) return;
  const ActivityTrace& activity = run.recording->activity;
  const ActivityTrace& whole = story.whole().activity;
  EXPECT_EQ(activity.busy_ns.size(), activity.times.size() * activity.cpus());
  EXPECT_EQ(activity.first_reading.size(), activity.times.empty() ? 0 : activity.times.size() + 1);
  ExpectBeginning(activity.times, whole.times, equal);
  ExpectBeginning(activity.busy_ns, whole.busy_ns, equal);
  ExpectBeginning(activity.first_reading, whole.first_reading, equal);
  ExpectBeginning(activity.readings, whole.readings, [](const auto& a, const auto& b) {
    return a.task == b.task && a.cpu == b.cpu && a.run_ns == b.run_ns;
  });
  ExpectBeginning(activity.tasks, whole.tasks, [](const Task& a, const Task& b) {
    return a.pid == b.pid && a.tid == b.tid && a.name == b.name && a.owner == b.owner;
  });
  const FeatureTrace& features = run.recording->features;
  ExpectBeginning(features.times, story.whole().features.times, equal);
  for (size_t i = 0; i < features.columns.size(); ++i) {
    EXPECT_EQ(features.columns[i].values.size(), features.times.size());
    ExpectBeginning(features.columns[i].values, story.whole().features.columns[i].values,
                    [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
  }
}

void ExpectWhole(const StoredRun& run, const Story& story) {
  ExpectBeginningOf(run, story);
  ASSERT_EQ(run.power.channels.size(), 3U);
  EXPECT_EQ(run.power.channels[0].times, story.power().channels[0].times);
  EXPECT_THAT(run.power.channels[2].times, IsEmpty()) << "it was watched and told nothing";
  EXPECT_EQ(run.power.channels[0].meter.update_period_us, 998.5);
  EXPECT_EQ(run.power.channels[2].meter.error, 0.5);
  ASSERT_TRUE(run.recording);
  const Recording& recording = *run.recording;
  EXPECT_EQ(recording.activity.times.size(), story.whole().activity.times.size());
  EXPECT_EQ(recording.features.times.size(), story.whole().features.times.size());
  EXPECT_THAT(recording.command, ElementsAre("python3", "train.py", "--epochs", "3"));
  EXPECT_THAT(recording.pids, ElementsAre(4711));
  EXPECT_EQ(recording.activity.cpu_time, "schedstat");
  EXPECT_EQ(recording.end, story.whole().end);
  EXPECT_EQ(recording.exit_code, 137);
  EXPECT_EQ(recording.cost.missed, 2U);
  EXPECT_EQ(recording.cost.late_p99_us, 900);
  ASSERT_EQ(recording.windows.size(), 1U);
  EXPECT_TRUE(recording.windows[0].warm_up);
  EXPECT_EQ(recording.windows[0].runs, 3U);
  EXPECT_THAT(Plain(recording.notes),
              ElementsAre("cpus_estimated refused=rapl", "clock_set moved_s=2.5"));
}

TEST(RecordingTest, PiecesMakeTheWhole) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Story story(seed);
    const std::string bytes = Recorded(story, 12);
    const StoredRun run = Loaded(bytes);
    ExpectWhole(run, story);
    EXPECT_THAT(run.ops.reports, IsEmpty()) << "nothing is wrong with it";
  }
}

// Whoever kills the recorder leaves a file that can be read, or none.
TEST(RecordingTest, TheFileIsSeenWithItsWholeBeginning) {
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("beryl-begin-{}.beryl", ::getpid());
  auto file = GrowingFile::Open(path);
  ASSERT_TRUE(file);
  EXPECT_FALSE(std::filesystem::exists(path));
  Story story(1);
  const auto writer = RecordingWriter::Start(*file, {}, story.Channels(), story.Beginning());
  ASSERT_TRUE(writer);
  const StoredRun run = Loaded(BytesOfFile(path));
  std::filesystem::remove(path);
  ASSERT_TRUE(run.recording);
  EXPECT_EQ(run.recording->command, story.Beginning().command);
  EXPECT_THAT(run.power.channels, SizeIs(story.Channels().channels.size()));
}

TEST(RecordingTest, SavingALoadedRecordingKeepsIt) {
  Story story(3);
  const StoredRun run = Loaded(Recorded(story, 12));
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("beryl-again-{}.beryl", ::getpid());
  {
    auto file = GrowingFile::Open(path);
    ASSERT_TRUE(Save(run, *file));
  }
  ExpectWhole(Loaded(BytesOfFile(path)), story);
  std::filesystem::remove(path);
}

TEST(RecordingTest, CutAtAnyByteWhatStandsBeforeIsThere) {
  Story story(5);
  const std::string bytes = Recorded(story, 4);
  for (size_t cut = 16; cut < bytes.size(); ++cut) {
    const std::string part = bytes.substr(0, cut);
    const StoredRun run = Loaded(part);
    ExpectBeginningOf(run, story);
    ASSERT_EQ(run.ops.reports.size(), 1U);
    EXPECT_THAT(PlainText(run.ops.reports[0].notes.at(0)), HasSubstr("run_file_"));
    if (!run.recording || run.recording->end.value != 0) continue;
    EXPECT_THAT(Plain(run.recording->notes), Contains("recorder_killed"));
  }
}

TEST(RecordingTest, AnyByteThatChangesIsNoticed) {
  Story story(6);
  const std::string bytes = Recorded(story, 3);
  for (size_t at = 16; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    ExpectBeginningOf(Loaded(damaged), story);
  }
}

TEST(RecordingTest, ChannelsOfAnotherMachineKeepWhatContainsThem) {
  Story story(7);
  const StoredRun run = Loaded(Recorded(story, 2), {"node1", "1"});
  EXPECT_EQ(run.power.channels[0].name, "node1/CPU:0");
  EXPECT_EQ(run.power.channels[0].meter.within, "node1/psys");
}

// What refers to a task or a CPU that was not named is damage, and nothing of the block is kept.
TEST(RecordingTest, BlocksThatReferToWhatIsNotThereAreRefused) {
  ActivityTrace activity;
  activity.cpu_package = {0, 0};
  activity.times = {Nanos{kStart}, Nanos{kStart + 1}};
  activity.busy_ns = {1, 2, 3, 4};
  activity.first_reading = {0, 1, 2};
  activity.readings = {{0, 1, 10}, {1, 1, 10}};
  const auto taken = [&](size_t tasks, uint16_t cpu) {
    activity.readings[1].cpu = cpu;
    RecordingReader reader;
    const auto take = [&](BlockType type, const std::string& bytes) {
      Decoder decoder(bytes);
      return reader.Take(type, decoder);
    };
    EXPECT_FALSE(take(BlockType::kCpus, EncodeCpus(activity))) << "before it has started";
    EXPECT_TRUE(take(BlockType::kRecordingStart, EncodeRecordingStart({})));
    EXPECT_TRUE(take(BlockType::kCpus, EncodeCpus(activity)));
    EXPECT_TRUE(take(BlockType::kTasks, EncodeTasks(std::vector<Task>(tasks))));
    const bool good = take(BlockType::kActivity, EncodeActivity(activity, 0, 2));
    EXPECT_EQ(reader.recording().activity.times.size(), good ? 2U : 0U);
    EXPECT_EQ(reader.recording().activity.readings.size(), good ? 2U : 0U);
    EXPECT_EQ(reader.recording().activity.busy_ns.size(), good ? 4U : 0U);
    return good;
  };
  EXPECT_TRUE(taken(2, 1));
  EXPECT_FALSE(taken(1, 1));
  EXPECT_FALSE(taken(2, 2));
}

// An hour of 64 threads that are looked at every 20 ms has to stay small.
TEST(RecordingTest, ActivityIsSmall) {
  std::mt19937_64 random(1);
  ActivityTrace activity;
  activity.cpu_package.assign(20, 0);
  std::vector<TaskReading> tasks(64);
  activity.first_reading = {0};
  std::vector<uint64_t> busy(20);
  for (int64_t i = 0; i < 50; ++i) {
    activity.times.push_back(Nanos{kStart + i * 20'000'000});
    for (uint64_t& cpu : busy) activity.busy_ns.push_back(cpu += random() % 3 * 10'000'000);
    for (uint32_t task = 0; task < tasks.size(); ++task) {
      tasks[task].task = task;
      tasks[task].run_ns += 6'000'000 + random() % 100'000;
      if (random() % 16 == 0) tasks[task].cpu = static_cast<uint16_t>(random() % 20);
      activity.readings.push_back(tasks[task]);
    }
    activity.first_reading.push_back(activity.readings.size());
  }
  const double bytes = static_cast<double>(EncodeActivity(activity, 0, 50).size());
  EXPECT_LT(bytes / 3200, 10) << "bytes a reading, before they are deflated";
}

}  // namespace
}  // namespace beryl::store
