#include <array>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "sources/proc_file.h"
#include "sources/processes.h"

namespace beryl::sources {

std::vector<int32_t> RootProcesses(const Machine& machine) {
  std::map<int32_t, int32_t> parents;  // by process
  int32_t of_kernel = -1;              // the parent of its threads
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(machine.procfs, failed)) {
    const auto pid = ParseNumber(entry.path().filename().string());
    if (!pid) continue;
    std::array<char, 512> buffer;
    const ProcFile file((entry.path() / "stat").c_str());
    const StatLine stat = ParseStatLine(file.Read(buffer));
    if (!stat.ok) continue;
    parents[static_cast<int32_t>(*pid)] = stat.parent;
    if (stat.name == "kthreadd") of_kernel = static_cast<int32_t>(*pid);
  }
  std::vector<int32_t> roots;
  for (const auto& [pid, parent] : parents) {
    if (pid != of_kernel && !parents.contains(parent)) roots.push_back(pid);
  }
  return roots;
}

}  // namespace beryl::sources
