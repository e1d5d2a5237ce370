// The blocks of a recording: what was watched, who used the CPUs, how busy everything was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/blocks.h"
#include "store/encoding.h"
#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::store {

// Samples of activity in a block: the loss from a torn block.
inline constexpr size_t kSamplesInBlock = size_t{1} << 12;

std::string EncodeMeter(const PowerChannel& channel);
std::string EncodeRecordingStart(const Recording& recording);
std::string EncodeCpus(const ActivityTrace& activity);
std::string EncodeTasks(const std::vector<Task>& tasks);
// The samples [from, to), not empty.
std::string EncodeActivity(const ActivityTrace& activity, size_t from, size_t to);
std::string EncodeFeatureColumns(const FeatureTrace& features);
std::string EncodeFeatures(const FeatureTrace& features);
std::string EncodeWindow(const RunWindow& window);
std::string EncodeRecordingEnd(const Recording& recording);

// What follows the name and the kind of a channel.
bool DecodeMeter(Decoder& decoder, MeterTraits& meter);

// Assembles a recording, block by block.
class RecordingReader {
 public:
  // Whether blocks of this type are for Take.
  static bool Knows(BlockType type);
  // False if the block is malformed or refers to something undefined. What was taken before stays.
  bool Take(BlockType type, Decoder& decoder);

  // A repeated note is the same note.
  void Add(const Note& note);

  bool started() const { return started_; }
  bool ended() const { return ended_; }
  Recording& recording() { return recording_; }

 private:
  bool TakeStart(Decoder& decoder);
  bool TakeCpus(Decoder& decoder);
  bool TakeTasks(Decoder& decoder);
  bool TakeActivity(Decoder& decoder);
  bool TakeFeatureColumns(Decoder& decoder);
  bool TakeFeatures(Decoder& decoder);
  bool TakeWindow(Decoder& decoder);
  bool TakeEnd(Decoder& decoder);
  bool TakeSentences(Decoder& decoder);

  // A task's values in the block being read.
  struct TaskState {
    uint64_t block = 0;
    uint64_t cpu = 0;
    uint64_t run_ns = 0;
  };

  Recording recording_;
  bool started_ = false;
  bool ended_ = false;
  uint64_t activity_blocks_ = 0;
  std::vector<TaskState> tasks_;
  std::vector<size_t> columns_;  // of recording_.features, by the file's numbers
};

}  // namespace beryl::store
