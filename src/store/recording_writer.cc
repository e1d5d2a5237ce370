#include <algorithm>
#include <utility>

#include "store/context_block.h"
#include "store/notes_block.h"
#include "store/power_block.h"
#include "store/recording_blocks.h"
#include "store/store.h"

namespace beryl::store {
namespace {

// Below this, what a block could be made smaller by is not worth the work.
constexpr size_t kSmallBlock = 200;

bool SameColumns(const FeatureTrace& a, const FeatureTrace& b) {
  return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                    [](const FeatureColumn& one, const FeatureColumn& other) {
                      return one.name == other.name && one.device == other.device;
                    });
}

FeatureTrace WithoutValues(const FeatureTrace& features) {
  FeatureTrace names;
  for (const FeatureColumn& column : features.columns) {
    names.columns.push_back({column.name, column.device, {}});
  }
  return names;
}

}  // namespace

// Nothing here grows with the recording.
struct RecordingWriter::State {
  explicit State(GrowingFile& file) : blocks(file) {}

  Result<bool> Add(BlockType type, const std::string& bytes) {
    return blocks.Add(type, bytes, bytes.size() >= kSmallBlock);
  }

  Result<bool> AddCpus(const ActivityTrace& activity) {
    if (cpus_told || activity.cpu_package.empty()) return true;
    cpus_told = true;
    return Add(BlockType::kCpus, EncodeCpus(activity));
  }

  Result<bool> AddNotes(const std::vector<Note>& notes) {
    if (notes.empty()) return true;
    return Add(BlockType::kNotes, EncodeNotes(NotesAbout::kRecording, notes));
  }

  Result<bool> AddPower(const PowerTrace& power) {
    for (const PowerChannel& channel : power.channels) {
      for (size_t from = 0; from < channel.times.size(); from += kReadingsInBlock) {
        const size_t to = std::min(channel.times.size(), from + kReadingsInBlock);
        if (auto ok = Add(BlockType::kPower, EncodePower(channel, from, to)); !ok) return ok;
      }
    }
    return true;
  }

  Result<bool> AddActivity(const ActivityTrace& activity) {
    if (auto ok = AddCpus(activity); !ok) return ok;
    if (!activity.tasks.empty()) {
      if (auto ok = Add(BlockType::kTasks, EncodeTasks(activity.tasks)); !ok) return ok;
    }
    for (size_t from = 0; from < activity.times.size(); from += kSamplesInBlock) {
      const size_t to = std::min(activity.times.size(), from + kSamplesInBlock);
      if (auto ok = Add(BlockType::kActivity, EncodeActivity(activity, from, to)); !ok) return ok;
    }
    return true;
  }

  Result<bool> AddFeatures(const FeatureTrace& features) {
    if (features.times.empty()) return true;
    if (!SameColumns(columns, features)) {
      columns = WithoutValues(features);
      if (auto ok = Add(BlockType::kFeatureColumns, EncodeFeatureColumns(features)); !ok) return ok;
    }
    return Add(BlockType::kFeatures, EncodeFeatures(features));
  }

  BlockWriter blocks;
  FeatureTrace columns;  // as they were told last
  bool cpus_told = false;
};

RecordingWriter::RecordingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

Result<RecordingWriter> RecordingWriter::Start(GrowingFile& file, std::string_view tool,
                                               const PowerTrace& power,
                                               const Recording& recording) {
  auto state = std::make_unique<State>(file);
  if (auto ok = state->blocks.Start(); !ok) return ok.error();
  StoredRun run;
  run.tool = tool;
  run.power.clock = power.clock;
  run.power.report.file = power.report.file;
  run.ops.clock = power.clock;
  if (auto ok = state->Add(BlockType::kContext, EncodeContext(run)); !ok) return ok.error();
  for (const PowerChannel& channel : power.channels) {
    if (auto ok = state->Add(BlockType::kMeter, EncodeMeter(channel)); !ok) return ok.error();
  }
  if (auto ok = state->Add(BlockType::kRecordingStart, EncodeRecordingStart(recording)); !ok) {
    return ok.error();
  }
  if (auto ok = state->AddCpus(recording.activity); !ok) return ok.error();
  if (auto ok = state->AddNotes(recording.notes); !ok) return ok.error();
  return RecordingWriter(std::move(state));
}

Result<bool> RecordingWriter::Append(const PowerTrace& power, const Recording& piece) {
  if (auto ok = state_->AddPower(power); !ok) return ok;
  if (auto ok = state_->AddActivity(piece.activity); !ok) return ok;
  if (auto ok = state_->AddFeatures(piece.features); !ok) return ok;
  return state_->AddNotes(piece.notes);
}

Result<bool> RecordingWriter::Append(const RunWindow& window) {
  return state_->Add(BlockType::kWindow, EncodeWindow(window));
}

Result<bool> RecordingWriter::Finish(const Recording& recording) {
  if (auto ok = state_->AddNotes(recording.notes); !ok) return ok;
  if (auto ok = state_->Add(BlockType::kRecordingEnd, EncodeRecordingEnd(recording)); !ok) {
    return ok;
  }
  return state_->blocks.Finish();
}

}  // namespace beryl::store
