#include <algorithm>

#include "base/sort_by_key.h"
#include "store/blocks.h"
#include "store/context_block.h"
#include "store/encoding.h"
#include "store/notes_block.h"
#include "store/ops_block.h"
#include "store/power_block.h"
#include "store/recording_blocks.h"
#include "store/store.h"

namespace beryl::store {
namespace {

// The maximal content of a block: limits the loss from a torn block, and lets readers share the
// work.
constexpr size_t kStringBytesInBlock = size_t{1} << 20;
constexpr size_t kRecordsInBlock = size_t{1} << 16;

std::string NamesBytes(const OpTrace& ops) {
  std::string out;
  PutVarint(out, ops.devices.size());
  for (const std::string& device : ops.devices) PutString(out, device);
  PutVarint(out, ops.ranks.size());
  for (const std::string& rank : ops.ranks) PutString(out, rank);
  PutVarint(out, ops.steps.size());
  for (const RunStep& step : ops.steps) {
    PutString(out, step.name);
    PutSigned(out, step.start.value);
    PutVarint(out, static_cast<uint64_t>((step.end - step.start).value));
  }
  return out;
}

std::string ReportBytes(const ImportReport& report) {
  std::string out;
  PutString(out, report.file);
  PutString(out, report.format);
  PutString(out, report.rank);
  for (const uint64_t number :
       {report.events, report.operations, report.device_events, report.with_correlation,
        report.tied, report.inside_modules, report.outside_modules}) {
    PutVarint(out, number);
  }
  PutVarint(out, 0);  // the first versions had sentences here
  return out;
}

class Saver {
 public:
  Saver(const StoredRun& run, GrowingFile& file) : run_(run), blocks_(file) {}

  Status Run() {
    TRY(blocks_.Start());
    TRY(blocks_.Add(BlockType::kContext, EncodeContext(run_), true));
    TRY(SaveNotes(NotesAbout::kRun, run_.notes));
    for (const ImportReport& report : run_.ops.reports) {
      TRY(blocks_.Add(BlockType::kReport, ReportBytes(report), true));
      TRY(SaveNotes(NotesAbout::kReport, report.notes));
    }
    for (const PowerChannel& channel : run_.power.channels) {
      TRY(SavePower(channel));
    }
    TRY(SaveRecording());
    for (auto save : {&Saver::SaveStrings, &Saver::SavePaths, &Saver::SaveNames, &Saver::SaveKinds,
                      &Saver::SaveDtypes, &Saver::SaveDataflow, &Saver::SaveOps}) {
      TRY((this->*save)());
    }
    return blocks_.Finish();
  }

 private:
  Status SaveNotes(NotesAbout about, const std::vector<Note>& notes) {
    if (notes.empty()) return {};
    return blocks_.Add(BlockType::kNotes, EncodeNotes(about, notes), true);
  }

  Status SavePower(const PowerChannel& channel) {
    // Readings from a file have no meter properties.
    if (run_.recording || !channel.meter.source.empty()) {
      TRY(blocks_.Add(BlockType::kMeter, EncodeMeter(channel), true));
    }
    for (size_t from = 0; from < channel.times.size(); from += kReadingsInBlock) {
      const size_t to = std::min(channel.times.size(), from + kReadingsInBlock);
      TRY(blocks_.Add(BlockType::kPower, EncodePower(channel, from, to), true));
    }
    return {};
  }

  Status SaveRecording() {
    if (!run_.recording) return {};
    const Recording& recording = *run_.recording;
    const ActivityTrace& activity = recording.activity;
    Status ok;
    auto add = [&](BlockType type, const std::string& bytes) {
      if (ok) ok = blocks_.Add(type, bytes, true);
    };
    add(BlockType::kRecordingStart, EncodeRecordingStart(recording));
    if (activity.cpus() > 0) add(BlockType::kCpus, EncodeCpus(activity));
    if (!activity.tasks.empty()) add(BlockType::kTasks, EncodeTasks(activity.tasks));
    for (size_t from = 0; from < activity.times.size(); from += kSamplesInBlock) {
      const size_t to = std::min(activity.times.size(), from + kSamplesInBlock);
      add(BlockType::kActivity, EncodeActivity(activity, from, to));
    }
    if (!recording.features.times.empty()) {
      add(BlockType::kFeatureColumns, EncodeFeatureColumns(recording.features));
      add(BlockType::kFeatures, EncodeFeatures(recording.features));
    }
    for (const RunWindow& window : recording.windows) {
      add(BlockType::kWindow, EncodeWindow(window));
    }
    if (ok) ok = SaveNotes(NotesAbout::kRecording, recording.notes);
    // A recorder that was killed has no end.
    if (recording.end.value != 0) add(BlockType::kRecordingEnd, EncodeRecordingEnd(recording));
    return ok;
  }

  Status SaveStrings() {
    const StringTable& strings = run_.ops.strings;
    std::string texts;
    size_t count = 0;
    // The empty string always exists.
    for (size_t id = 1; id < strings.size(); ++id) {
      PutString(texts, strings.Text(static_cast<StringId>(id)));
      ++count;
      if (texts.size() < kStringBytesInBlock && id + 1 < strings.size()) continue;
      std::string out;
      PutVarint(out, count);
      out += texts;
      TRY(blocks_.Add(BlockType::kStrings, out, true));
      texts.clear();
      count = 0;
    }
    return {};
  }

  // Writes blocks of up to kRecordsInBlock records from `first` on; `put` appends one.
  template <typename Put>
  Status SaveRecords(BlockType type, size_t first, size_t size, Put&& put) {
    for (size_t from = first; from < size; from += kRecordsInBlock) {
      const size_t to = std::min(size, from + kRecordsInBlock);
      std::string out;
      PutVarint(out, to - from);
      for (size_t i = from; i < to; ++i) put(out, i);
      TRY(blocks_.Add(type, out, true));
    }
    return {};
  }

  Status SavePaths() {
    return SaveRecords(BlockType::kPaths, 1, run_.ops.paths.size(),
                       [&](std::string& out, size_t i) {
                         const PathTable::Step& step = run_.ops.paths[static_cast<PathId>(i)];
                         PutVarint(out, step.parent);
                         PutVarint(out, step.name);
                         PutVarint(out, step.type);
                         PutVarint(out, static_cast<uint64_t>(step.kind));
                       });
  }

  Status SaveNames() { return blocks_.Add(BlockType::kNames, NamesBytes(run_.ops), true); }

  Status SaveKinds() {
    return SaveRecords(
        BlockType::kKinds, 0, run_.ops.kinds.size(), [&](std::string& out, size_t i) {
          const OpKind& kind = run_.ops.kinds[i];
          for (const uint64_t number :
               {uint64_t{kind.path}, uint64_t{kind.scope}, uint64_t{kind.op}, uint64_t{kind.type},
                uint64_t{kind.shapes}, static_cast<uint64_t>(kind.phase), uint64_t{kind.rank}}) {
            PutVarint(out, number);
          }
        });
  }

  Status SaveDtypes() {
    std::vector<uint32_t> typed;
    for (uint32_t kind = 0; kind < run_.ops.kinds.size(); ++kind) {
      if (run_.ops.kinds[kind].dtype != 0) typed.push_back(kind);
    }
    return SaveRecords(BlockType::kDtypes, 0, typed.size(), [&](std::string& out, size_t i) {
      PutVarint(out, typed[i]);
      PutVarint(out, run_.ops.kinds[typed[i]].dtype);
    });
  }

  Status SaveDataflow() {
    return SaveRecords(BlockType::kDataflow, 0, run_.ops.dataflow.size(),
                       [&](std::string& out, size_t i) {
                         PutVarint(out, run_.ops.dataflow[i].from);
                         PutVarint(out, run_.ops.dataflow[i].to);
                       });
  }

  Status AddOps(const std::vector<Op>& block) {
    // Full blocks are many, and uncompressed they read at memory speed.
    return blocks_.Add(BlockType::kOps, EncodeOps(block), block.size() < kOpsInBlock);
  }

  // They are in order already, and are never all unpacked.
  Status SavePackedOps(const PackedOps& packed) {
    std::vector<Op> some;
    std::vector<Op> block;
    for (size_t i = 0; i < packed.blocks(); ++i) {
      packed.Unpack(i, some);
      for (const Op& op : some) {
        block.push_back(op);
        if (block.size() < kOpsInBlock) continue;
        TRY(AddOps(block));
        block.clear();
      }
    }
    return block.empty() ? Status() : AddOps(block);
  }

  Status SaveOps() {
    if (run_.ops.packed) return SavePackedOps(*run_.ops.packed);
    const std::vector<Op>& ops = run_.ops.ops;
    constexpr uint64_t kSignBit = uint64_t{1} << 63;
    std::vector<KeyedIndex> order;
    order.reserve(ops.size());
    for (uint32_t i = 0; i < ops.size(); ++i) {
      order.push_back({static_cast<uint64_t>(ops[i].start.value) ^ kSignBit, i});
    }
    SortByKey(order);
    std::vector<Op> block;
    for (size_t from = 0; from < order.size(); from += kOpsInBlock) {
      const size_t to = std::min(order.size(), from + kOpsInBlock);
      block.clear();
      for (size_t i = from; i < to; ++i) block.push_back(ops[order[i].index]);
      TRY(AddOps(block));
    }
    return {};
  }

  const StoredRun& run_;
  BlockWriter blocks_;
};

}  // namespace

Result<SavedRun> Save(const StoredRun& run, GrowingFile& file) {
  TRY(Saver(run, file).Run());
  TRY(file.Show());
  SavedRun saved{run.ops.Glance().All().count, 0};
  for (const PowerChannel& channel : run.power.channels) saved.readings += channel.times.size();
  return saved;
}

}  // namespace beryl::store
