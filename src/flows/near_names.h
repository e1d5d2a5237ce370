// Suggests names similar to one that does not exist.
#pragma once

#include <string>
#include <vector>

namespace beryl::flows {

// "; did you mean 'gpt2'?" with similar names in `known`; if there are none, all names if they are
// few.
std::string NearNames(const std::string& word, const std::vector<std::string>& known);

}  // namespace beryl::flows
