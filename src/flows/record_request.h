// What a user says of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/meter_request.h"
#include "flows/record_rounds.h"

namespace beryl::flows {

struct RecordRequest {
  std::string output;  // as RecordingFile::Open takes it
  bool force = false;  // replaces what is there under that name
  std::string period = "4ms";
  std::vector<int32_t> pids;
  std::vector<std::string> command;
  std::optional<int> repeat;  // rounds
  std::string length;         // of a round, or of the recording; empty: as long as it takes
  std::string cool_down;      // the longest rest before a round; empty: none
  std::optional<int> warm_up;
  MeterRequest meters;
};
// It is a misuse error if the parts do not go together, such as rounds without a command.
Result<RecordOptions> RecordOptionsOf(const RecordRequest& request);

}  // namespace beryl::flows
