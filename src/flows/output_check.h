// What a command must not write. Inputs are never outputs: no file that a command writes may be
// named by anything else that it was given. Command checks this before a command starts, for all of
// its options, so that none can be forgotten.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace beryl::flows {

// What an option or argument was given.
struct GivenValue {
  std::string value;
  bool may_be_folder = true;  // false: never a folder that is read
};

// It is a misuse error if one of `others` names the file `output`, or a folder that has it, or
// has a folder that does. A value names a file as a whole or in one of its parts: "RUN=CONFIG",
// "CONFIG@PROFILE", "A,B", "RANK+RANK", "PATH,baud=9600". `option` writes the file, for the
// message.
Status CheckOutput(const std::string& option, const std::string& output,
                   const std::vector<GivenValue>& others);

// It is a misuse error if `output` is a run file: it may be a recording, which nobody can make
// again. `can_force`: the command has --force, for the message.
Status CheckTakesNoRun(const std::string& option, const std::string& output, bool can_force);

}  // namespace beryl::flows
