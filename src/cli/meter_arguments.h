// Which meters: the options of every command that reads power as it is used.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sources/sources.h"

namespace beryl::cli {

class Command;

struct MeterArguments {
  std::vector<std::string> meters;
  std::string replay;
  std::string only;
  std::string estimate;
};

// --meter, --replay, --only, --estimate.
void AddMeterOptions(Command& command, MeterArguments& arguments);

Result<sources::DiscoverOptions> DiscoverOptionsOf(const MeterArguments& arguments);

// "500us", "4ms", "20s", "1.5m", "1h": more than 0, and with its unit. `option` is for the message.
Result<Nanos> ParseDuration(const std::string& option, const std::string& text);

}  // namespace beryl::cli
