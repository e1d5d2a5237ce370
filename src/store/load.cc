#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "store/blocks.h"
#include "store/encoding.h"
#include "store/notes_block.h"
#include "store/ops_block.h"
#include "store/power_block.h"
#include "store/recording_blocks.h"
#include "store/store.h"

namespace beryl::store {
namespace {

constexpr size_t kMostNames = 60'000;  // devices and ranks are numbered in 16 bits

class Loader {
 public:
  Loader(ByteSource& source, const LoadOptions& options, StoredRun& run)
      : source_(source),
        options_(options),
        run_(run),
        blocks_(source),
        own_steps_from_(run.ops.steps.size()) {
    run.ops.Unpack();
    numbers_.first_kind = static_cast<uint32_t>(run.ops.kinds.size());
    for (const Op& op : run.ops.ops) {
      if (op.lane != kNoLane) numbers_.first_lane = std::max(numbers_.first_lane, op.lane + 1);
    }
  }

  Status Run() {
    run_.ops.machine = options_.machine;
    TRY(blocks_.Start());
    bool ended = false;
    while (!damage_ && !ended) {
      auto block = TRY(blocks_.Next());
      if (!block) break;
      ended = block->type == BlockType::kEnd;
      Take(std::move(*block));
    }
    if (!damage_ && !ended && blocks_.damage()) Damage(*blocks_.damage(), blocks_.offset());
    Finish();
    return {};
  }

 private:
  void Damage(NoteKind what, uint64_t offset) {
    damage_ = what;
    damaged_at_ = offset;
  }

  void Take(Block block) {
    const uint64_t offset = block.offset;
    const BlockType type = block.type;
    auto bytes = BytesOf(block);
    if (!bytes) {
      Damage(NoteKind::kRunFileChecksumWrong, offset);
      return;
    }
    Decoder decoder(*bytes);
    if (type == BlockType::kNames || type == BlockType::kKinds) shared_numbers_.reset();
    const bool good = TakeAs(type, *bytes, decoder);
    if (!good || decoder.failed()) Damage(NoteKind::kRunFileBlockNotRead, offset);
  }

  bool TakeAs(BlockType type, std::string& bytes, Decoder& decoder) {
    switch (type) {
      case BlockType::kContext:
        return TakeContext(decoder);
      case BlockType::kStrings:
        return TakeStrings(decoder);
      case BlockType::kPaths:
        return TakePaths(decoder);
      case BlockType::kNames:
        return TakeNames(decoder);
      case BlockType::kKinds:
        return TakeKinds(decoder);
      case BlockType::kDtypes:
        return TakeDtypes(decoder);
      case BlockType::kDataflow:
        return TakeDataflow(decoder);
      case BlockType::kPower:
        return TakePower(decoder);
      case BlockType::kReport:
        return TakeReport(decoder);
      case BlockType::kOps:
        return TakeOps(std::move(bytes));
      case BlockType::kMeter:
        return TakeMeter(decoder);
      case BlockType::kNotes:
        return TakeNotes(decoder);
      case BlockType::kEnd:
        return true;
      default:
        return !RecordingReader::Knows(type) || recording_.Take(type, decoder);
    }
  }

  bool TakeOps(std::string bytes) {
    // Blocks after the same names share their numbers.
    if (!shared_numbers_) shared_numbers_ = std::make_shared<const OpNumbers>(numbers_);
    if (!ops_) ops_ = std::make_shared<RunFileOps>();
    return ops_->Add(std::move(bytes), shared_numbers_);
  }

  bool TakeContext(Decoder& decoder) {
    RunContext& context = run_.context;
    decoder.Each([&] { context.ops_files.emplace_back(decoder.String()); });
    if (const auto file = decoder.String(); !file.empty()) context.power_files.emplace_back(file);
    context.label = decoder.String();
    decoder.String();  // the program that wrote it
    run_.ops.clock = decoder.String();
    run_.power.clock = decoder.String();
    AddFile(run_.power.report.file, decoder.String());
    decoder.Each([&] {
      const int64_t local = decoder.Signed();
      const int64_t epoch = decoder.Signed();
      if (!IsTime(local) || !IsTime(epoch)) return decoder.Refuse();
      run_.ops.anchors.push_back({Nanos{local}, Nanos{epoch}});
    });
    return decoder.Each(
        [&] { run_.notes.push_back(RecordedText(NoteClass::kTold, decoder.String())); });
  }

  static void AddFile(std::string& files, std::string_view more) {
    if (!files.empty()) files += ", ";
    files += more;
  }

  bool TakeStrings(Decoder& decoder) {
    return decoder.Each([&] { strings_.push_back(run_.ops.strings.Intern(decoder.String())); });
  }

  StringId String(Decoder& decoder) { return strings_[decoder.Below(strings_.size())]; }

  bool TakePaths(Decoder& decoder) {
    return decoder.Each([&] {
      const PathId parent = paths_[decoder.Below(paths_.size())];
      const StringId name = String(decoder);
      const StringId type = String(decoder);
      const PathKind kind = decoder.UpTo(PathKind::kOutside);
      if (decoder.failed()) return;
      paths_.push_back(run_.ops.paths.Intern(parent, name, kind, type));
    });
  }

  bool TakeNames(Decoder& decoder) {
    decoder.Each([&] {
      const std::string device(decoder.String());
      if (run_.ops.devices.size() >= kMostNames) return decoder.Refuse();
      numbers_.devices.push_back(run_.ops.DeviceNumber(device));
    });
    decoder.Each([&] {
      std::string rank(decoder.String());
      if (rank.empty()) rank = options_.rank;
      if (run_.ops.ranks.size() >= kMostNames) return decoder.Refuse();
      ranks_.push_back(run_.ops.RankNumber(rank));
    });
    return decoder.Each([&] {
      const std::string name(decoder.String());
      const int64_t start = decoder.Signed();
      const uint64_t duration = decoder.Varint();
      if (decoder.failed() || !IsTime(start) ||
          duration > static_cast<uint64_t>(kFarthestTime - start)) {
        return decoder.Refuse();
      }
      const RunStep step{name, Nanos{start}, Nanos{start + static_cast<int64_t>(duration)}};
      numbers_.steps.push_back(StepNumber(step));
    });
  }

  // Steps with the same name in different files are the same step; within one file they are not.
  uint32_t StepNumber(const RunStep& step) {
    std::vector<RunStep>& steps = run_.ops.steps;
    for (uint32_t i = 0; i < own_steps_from_; ++i) {
      if (steps[i].name != step.name) continue;
      steps[i].start = std::min(steps[i].start, step.start);
      steps[i].end = std::max(steps[i].end, step.end);
      return i;
    }
    steps.push_back(step);
    return static_cast<uint32_t>(steps.size() - 1);
  }

  bool TakeKinds(Decoder& decoder) {
    return decoder.Each([&] {
      OpKind kind;
      kind.path = paths_[decoder.Below(paths_.size())];
      kind.scope = paths_[decoder.Below(paths_.size())];
      kind.op = String(decoder);
      kind.type = String(decoder);
      kind.shapes = String(decoder);
      kind.phase = static_cast<Phase>(decoder.Below(kPhaseCount));
      const uint32_t rank = decoder.Below(ranks_.size());
      if (decoder.failed()) return;
      kind.rank = ranks_[rank];
      run_.ops.kinds.push_back(kind);
      ++numbers_.kinds;
    });
  }

  bool TakeDtypes(Decoder& decoder) {
    for (size_t left = decoder.Count(); left > 0; --left) {
      const uint32_t kind = decoder.Below(numbers_.kinds);
      const StringId dtype = String(decoder);
      if (decoder.failed()) return false;
      run_.ops.kinds[numbers_.first_kind + kind].dtype = dtype;
    }
    return true;
  }

  bool TakeDataflow(Decoder& decoder) {
    return decoder.Each([&] {
      const uint32_t from = decoder.Below(numbers_.kinds);
      const uint32_t to = decoder.Below(numbers_.kinds);
      if (decoder.failed()) return;
      run_.ops.dataflow.push_back({numbers_.first_kind + from, numbers_.first_kind + to});
    });
  }

  std::string OwnName(std::string_view name) const {
    if (options_.machine.empty() || name.empty()) return std::string(name);
    return fmt::format("{}/{}", options_.machine, name);
  }

  // The channel that the next fields name; nothing if they name none.
  PowerChannel* TakeChannel(Decoder& decoder) {
    const std::string name = OwnName(decoder.String());
    const ChannelKind kind = decoder.UpTo(ChannelKind::kEnergyCounter);
    if (decoder.failed()) return nullptr;
    for (const size_t own : channels_) {
      PowerChannel& channel = run_.power.channels[own];
      if (channel.name == name) return channel.kind == kind ? &channel : nullptr;
    }
    PowerChannel channel;
    channel.name = name;
    channel.scope = ScopeOfName(name);
    channel.kind = kind;
    channels_.push_back(run_.power.channels.size());
    return &run_.power.channels.emplace_back(std::move(channel));
  }

  bool TakePower(Decoder& decoder) {
    PowerChannel* channel = TakeChannel(decoder);
    return channel != nullptr && DecodePower(decoder, *channel);
  }

  bool TakeMeter(Decoder& decoder) {
    PowerChannel* channel = TakeChannel(decoder);
    if (channel == nullptr || !DecodeMeter(decoder, channel->meter)) return false;
    channel->meter.within = OwnName(channel->meter.within);
    return true;
  }

  bool TakeReport(Decoder& decoder) {
    ImportReport report;
    report.file = decoder.String();
    report.format = decoder.String();
    report.rank = decoder.String();
    if (report.rank.empty()) report.rank = options_.rank;
    for (uint64_t* number :
         {&report.events, &report.operations, &report.device_events, &report.with_correlation,
          &report.tied, &report.inside_modules, &report.outside_modules}) {
      *number = decoder.Varint();
    }
    decoder.Each([&] {
      static constexpr std::array kClasses = {NoteClass::kDropped, NoteClass::kSkipped,
                                              NoteClass::kRepaired};
      const NoteClass note_class = kClasses[decoder.Below(kClasses.size())];
      Note note = RecordedText(note_class, decoder.String());
      note.count = decoder.Varint();
      note.first_byte = decoder.Varint();
      report.notes.push_back(std::move(note));
    });
    if (decoder.failed()) return false;
    run_.ops.reports.push_back(std::move(report));
    ++own_reports_;
    return true;
  }

  bool TakeNotes(Decoder& decoder) {
    const uint64_t about = decoder.Varint();
    const std::vector<Note> notes = DecodeNotes(decoder);
    if (decoder.failed()) return false;
    if (about == static_cast<uint64_t>(NotesAbout::kRun)) {
      AppendNotes(run_.notes, notes);
    } else if (about == static_cast<uint64_t>(NotesAbout::kRecording)) {
      if (!recording_.started()) return false;
      for (const Note& note : notes) recording_.Add(note);
    } else if (about == static_cast<uint64_t>(NotesAbout::kReport)) {
      if (own_reports_ == 0) return false;
      AppendNotes(run_.ops.reports.back().notes, notes);
    }
    return true;  // other subjects are for later versions
  }

  // Data read before damage may be incomplete (a kind without operations, a channel without
  // readings); make it consistent for later code.
  void Finish() {
    run_.ops.machine.clear();
    run_.ops.packed = std::move(ops_);
    // Operations of several files have no common order, so they are combined unpacked.
    if (!run_.ops.ops.empty() && run_.ops.Unpack() > 0) {
      Damage(NoteKind::kRunFileOperationsNotRead, 0);
    }
    for (PowerChannel& channel : run_.power.channels) MakeWhole(channel);
    FinishRecording();
    if (!damage_) return;
    ImportReport report;
    report.file = source_.name();
    report.format = "beryl-run";
    report.rank = options_.rank;
    report.Count(*damage_, damaged_at_);
    run_.ops.reports.push_back(std::move(report));
  }

  static void MakeWhole(PowerChannel& channel) {
    const size_t size = std::min(channel.times.size(), channel.values.size());
    channel.times.resize(size);
    channel.values.resize(size);
    // Before the first reading nothing is known anyway.
    while (!channel.gaps.empty() && channel.gaps.back().reading >= size) channel.gaps.pop_back();
    if (!channel.gaps.empty() && channel.gaps.front().reading == 0) {
      channel.gaps.erase(channel.gaps.begin());
    }
  }

  // A silent meter is part of a recording. In readings alone, a channel without any does not count.
  void FinishRecording() {
    if (!recording_.started()) {
      std::erase_if(run_.power.channels,
                    [](const PowerChannel& channel) { return channel.times.empty(); });
      return;
    }
    if (run_.recording) {
      run_.notes.push_back({NoteKind::kUseToldByFirstFile, source_.name()});
      return;
    }
    for (const std::string& name : SettleEstimates(run_.power)) {
      recording_.Add({NoteKind::kCounterNeverMoved, name});
    }
    if (!recording_.ended()) recording_.Add(NoteKind::kRecorderKilled);
    run_.recording = std::move(recording_.recording());
  }

  ByteSource& source_;
  const LoadOptions& options_;
  StoredRun& run_;
  BlockReader blocks_;
  std::vector<StringId> strings_ = {0};
  std::vector<PathId> paths_ = {kRootPath};
  std::vector<uint16_t> ranks_;
  std::vector<size_t> channels_;  // of run_.power, those of this file
  RecordingReader recording_;
  OpNumbers numbers_;
  size_t own_steps_from_;
  std::shared_ptr<const OpNumbers> shared_numbers_;
  std::shared_ptr<RunFileOps> ops_;
  size_t own_reports_ = 0;
  std::optional<NoteKind> damage_;
  uint64_t damaged_at_ = 0;
};

}  // namespace

bool IsRunFile(std::string_view first_bytes) { return first_bytes.starts_with(kMagic); }

Status Load(ByteSource& source, const LoadOptions& options, StoredRun& run) {
  return Loader(source, options, run).Run();
}

}  // namespace beryl::store
