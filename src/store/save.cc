#include <algorithm>
#include <unordered_map>

#include "base/sort_by_key.h"
#include "store/blocks.h"
#include "store/encoding.h"
#include "store/ops_block.h"
#include "store/store.h"

namespace beryl::store {
namespace {

// What a block holds at most, so that none gets lost with a torn one but its own, and readers can
// share the work.
constexpr size_t kReadingsInBlock = size_t{1} << 16;
constexpr size_t kStringBytesInBlock = size_t{1} << 20;
constexpr size_t kRecordsInBlock = size_t{1} << 16;

std::string ContextBytes(const StoredRun& run) {
  std::string out;
  PutVarint(out, run.context.ops_files.size());
  for (const std::string& file : run.context.ops_files) PutString(out, file);
  PutString(out, run.context.power_file);
  PutString(out, run.context.label);
  PutString(out, run.context.tool);
  PutString(out, run.ops.clock);
  PutString(out, run.power.clock);
  PutString(out, run.power.report.file);
  PutVarint(out, run.ops.anchors.size());
  for (const ClockAnchor& anchor : run.ops.anchors) {
    PutSigned(out, anchor.local.value);
    PutSigned(out, anchor.epoch.value);
  }
  PutVarint(out, run.notes.size());
  for (const std::string& note : run.notes) PutString(out, note);
  return out;
}

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
  PutVarint(out, report.findings.size());
  for (const Finding& finding : report.findings) {
    PutVarint(out, static_cast<uint64_t>(finding.kind));
    PutString(out, finding.reason);
    PutVarint(out, finding.count);
    PutVarint(out, finding.first_offset);
  }
  return out;
}

class Saver {
 public:
  Saver(const StoredRun& run, GrowingFile& file) : run_(run), blocks_(file) {}

  Result<bool> Run() {
    if (auto ok = blocks_.Start(); !ok) return ok;
    if (auto ok = blocks_.Add(BlockType::kContext, ContextBytes(run_), true); !ok) return ok;
    for (const ImportReport& report : run_.ops.reports) {
      if (auto ok = blocks_.Add(BlockType::kReport, ReportBytes(report), true); !ok) return ok;
    }
    for (const PowerChannel& channel : run_.power.channels) {
      if (auto ok = SavePower(channel); !ok) return ok;
    }
    for (auto save : {&Saver::SaveStrings, &Saver::SavePaths, &Saver::SaveNames, &Saver::SaveKinds,
                      &Saver::SaveDataflow, &Saver::SaveOps}) {
      if (auto ok = (this->*save)(); !ok) return ok;
    }
    return blocks_.Finish();
  }

 private:
  Result<bool> SavePower(const PowerChannel& channel) {
    size_t gap = 0;
    for (size_t from = 0; from < channel.times.size(); from += kReadingsInBlock) {
      const size_t to = std::min(channel.times.size(), from + kReadingsInBlock);
      std::string out;
      PutString(out, channel.name);
      PutVarint(out, static_cast<uint64_t>(channel.kind));
      PutVarint(out, from == 0 ? channel.wraps : 0);
      PutVarint(out, to - from);
      PutSigned(out, channel.times[from].value);
      std::vector<uint64_t> deltas;
      for (size_t i = from + 1; i < to; ++i) {
        deltas.push_back(static_cast<uint64_t>((channel.times[i] - channel.times[i - 1]).value));
      }
      PutColumn(out, deltas);
      for (size_t i = from; i < to; ++i) PutFixed<double>(out, channel.values[i]);
      const size_t first_gap = gap;
      while (gap < channel.gaps.size() && channel.gaps[gap] < to) ++gap;
      PutVarint(out, gap - first_gap);
      for (size_t i = first_gap; i < gap; ++i) PutVarint(out, channel.gaps[i] - from);
      if (auto ok = blocks_.Add(BlockType::kPower, out, true); !ok) return ok;
    }
    return true;
  }

  Result<bool> SaveStrings() {
    const StringTable& strings = run_.ops.strings;
    std::string texts;
    size_t count = 0;
    // The empty string is there from the start.
    for (size_t id = 1; id < strings.size(); ++id) {
      PutString(texts, strings.Text(static_cast<StringId>(id)));
      ++count;
      if (texts.size() < kStringBytesInBlock && id + 1 < strings.size()) continue;
      std::string out;
      PutVarint(out, count);
      out += texts;
      if (auto ok = blocks_.Add(BlockType::kStrings, out, true); !ok) return ok;
      texts.clear();
      count = 0;
    }
    return true;
  }

  // Blocks of up to kRecordsInBlock records from `first` on; `put` appends one.
  template <typename Put>
  Result<bool> SaveRecords(BlockType type, size_t first, size_t size, Put&& put) {
    for (size_t from = first; from < size; from += kRecordsInBlock) {
      const size_t to = std::min(size, from + kRecordsInBlock);
      std::string out;
      PutVarint(out, to - from);
      for (size_t i = from; i < to; ++i) put(out, i);
      if (auto ok = blocks_.Add(type, out, true); !ok) return ok;
    }
    return true;
  }

  Result<bool> SavePaths() {
    return SaveRecords(BlockType::kPaths, 1, run_.ops.paths.size(),
                       [&](std::string& out, size_t i) {
                         const PathTable::Step& step = run_.ops.paths[static_cast<PathId>(i)];
                         PutVarint(out, step.parent);
                         PutVarint(out, step.name);
                         PutVarint(out, step.type);
                         PutVarint(out, static_cast<uint64_t>(step.kind));
                       });
  }

  Result<bool> SaveNames() { return blocks_.Add(BlockType::kNames, NamesBytes(run_.ops), true); }

  Result<bool> SaveKinds() {
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

  Result<bool> SaveDataflow() {
    return SaveRecords(BlockType::kDataflow, 0, run_.ops.dataflow.size(),
                       [&](std::string& out, size_t i) {
                         PutVarint(out, run_.ops.dataflow[i].from);
                         PutVarint(out, run_.ops.dataflow[i].to);
                       });
  }

  Result<bool> SaveOps() {
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
      // Whole blocks are many, and read at memory speed as they are.
      if (auto ok = blocks_.Add(BlockType::kOps, EncodeOps(block), block.size() < kOpsInBlock);
          !ok) {
        return ok;
      }
    }
    return true;
  }

  const StoredRun& run_;
  BlockWriter blocks_;
};

}  // namespace

Result<SavedRun> Save(const StoredRun& run, GrowingFile& file) {
  if (auto ok = Saver(run, file).Run(); !ok) return ok.error();
  SavedRun saved{run.ops.ops.size(), 0};
  for (const PowerChannel& channel : run.power.channels) saved.readings += channel.times.size();
  return saved;
}

}  // namespace beryl::store
