// Suggests names similar to one that does not exist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "types/command_synopsis.h"

namespace beryl::flows {

// "; did you mean 'gpt2'?" with similar names in `known`; if there are none, all names if they are
// few.
std::string NearNames(const std::string& word, const std::vector<std::string>& known);

// What is wrong with the words of a command line, if one is neither a command nor an option of the
// `chosen` one: "unknown option '--tpo'; did you mean '--top'?". Empty if all are known.
std::string UnknownWord(const std::vector<std::string>& words,
                        const std::vector<CommandSynopsis>& commands,
                        const std::optional<CommandSynopsis>& chosen);

}  // namespace beryl::flows
