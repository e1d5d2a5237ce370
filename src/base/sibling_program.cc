#include "base/sibling_program.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace beryl {

std::string BesideThisProgram(const std::string& name) {
  std::string self(PATH_MAX, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", self.data(), self.size());
  self.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + name;
}

bool IsBesideThisProgram(const std::string& name) {
  return ::access(BesideThisProgram(name).c_str(), X_OK) == 0;
}

std::string BecomeProgramAt(const std::string& path, std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
  return std::strerror(errno);
}

}  // namespace beryl
