// Programs that are installed beside this one.
#pragma once

#include <string>
#include <vector>

namespace beryl {

// Where a program of that name would be.
std::string BesideThisProgram(const std::string& name);
// Whether there is one that can be run.
bool IsBesideThisProgram(const std::string& name);
// Becomes the program at `path`. Returns only if that fails: why.
std::string BecomeProgramAt(const std::string& path, std::vector<std::string> words);

}  // namespace beryl
