#include <algorithm>
#include <utility>

#include "store/context_block.h"
#include "store/notes_block.h"
#include "store/power_block.h"
#include "store/recording_blocks.h"
#include "store/store.h"

namespace beryl::store {
namespace {

// Smaller blocks are not worth compressing.
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

  Status Add(BlockType type, const std::string& bytes) {
    return blocks.Add(type, bytes, bytes.size() >= kSmallBlock);
  }

  Status AddCpus(const ActivityTrace& activity) {
    if (cpus_told || activity.cpu_package.empty()) return {};
    cpus_told = true;
    return Add(BlockType::kCpus, EncodeCpus(activity));
  }

  Status AddNotes(const std::vector<Note>& notes) {
    if (notes.empty()) return {};
    return Add(BlockType::kNotes, EncodeNotes(NotesAbout::kRecording, notes));
  }

  Status AddPower(const PowerTrace& power) {
    for (const PowerChannel& channel : power.channels) {
      for (size_t from = 0; from < channel.times.size(); from += kReadingsInBlock) {
        const size_t to = std::min(channel.times.size(), from + kReadingsInBlock);
        TRY(Add(BlockType::kPower, EncodePower(channel, from, to)));
      }
    }
    return {};
  }

  Status AddActivity(const ActivityTrace& activity) {
    TRY(AddCpus(activity));
    if (!activity.tasks.empty()) {
      TRY(Add(BlockType::kTasks, EncodeTasks(activity.tasks)));
    }
    for (size_t from = 0; from < activity.times.size(); from += kSamplesInBlock) {
      const size_t to = std::min(activity.times.size(), from + kSamplesInBlock);
      TRY(Add(BlockType::kActivity, EncodeActivity(activity, from, to)));
    }
    return {};
  }

  Status AddFeatures(const FeatureTrace& features) {
    if (features.times.empty()) return {};
    if (!SameColumns(columns, features)) {
      columns = WithoutValues(features);
      TRY(Add(BlockType::kFeatureColumns, EncodeFeatureColumns(features)));
    }
    return Add(BlockType::kFeatures, EncodeFeatures(features));
  }

  BlockWriter blocks;
  FeatureTrace columns;  // as last written
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
  TRY(state->blocks.Start());
  StoredRun run;
  run.tool = tool;
  run.power.clock = power.clock;
  run.power.report.file = power.report.file;
  run.ops.clock = power.clock;
  TRY(state->Add(BlockType::kContext, EncodeContext(run)));
  for (const PowerChannel& channel : power.channels) {
    TRY(state->Add(BlockType::kMeter, EncodeMeter(channel)));
  }
  TRY(state->Add(BlockType::kRecordingStart, EncodeRecordingStart(recording)));
  TRY(state->AddCpus(recording.activity));
  TRY(state->AddNotes(recording.notes));
  TRY(file.Show(true));
  return RecordingWriter(std::move(state));
}

Status RecordingWriter::Append(const PowerTrace& power, const Recording& piece) {
  TRY(state_->AddPower(power));
  TRY(state_->AddActivity(piece.activity));
  TRY(state_->AddFeatures(piece.features));
  return state_->AddNotes(piece.notes);
}

Status RecordingWriter::Append(const RunWindow& window) {
  return state_->Add(BlockType::kWindow, EncodeWindow(window));
}

Status RecordingWriter::Finish(const Recording& recording) {
  TRY(state_->AddNotes(recording.notes));
  TRY(state_->Add(BlockType::kRecordingEnd, EncodeRecordingEnd(recording)));
  return state_->blocks.Finish();
}

}  // namespace beryl::store
