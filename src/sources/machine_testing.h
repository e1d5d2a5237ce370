// A machine made of small files, for tests.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sources/search.h"
#include "sources/sources.h"

namespace beryl::sources {

class TestMachine {
 public:
  TestMachine() {
    std::string pattern = (std::filesystem::temp_directory_path() / "beryl_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    machine_.sysfs = root_ + "/sys";
    machine_.procfs = root_ + "/proc";
    machine_.nvml = root_ + "/libnvidia-ml.so.1";
    WriteFile("proc/stat",
              "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 50 0 0 450 0 0 0 0 0 0\n"
              "cpu1 50 0 0 450 0 0 0 0 0 0\nintr 1\n");
    std::filesystem::create_directories(root_ + "/sys");
  }
  ~TestMachine() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TestMachine(const TestMachine&) = delete;
  TestMachine& operator=(const TestMachine&) = delete;

  Machine& machine() { return machine_; }
  std::string Path(const std::string& path) const { return root_ + "/" + path; }

  // In place, as the kernel would: the file stays the same one.
  void WriteFile(const std::string& path, std::string_view text) const {
    const std::filesystem::path whole = Path(path);
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
  }
  // By another file that takes its name.
  void ReplaceFile(const std::string& path, std::string_view text) const {
    WriteFile(path + ".new", text);
    std::filesystem::rename(Path(path + ".new"), Path(path));
  }
  void AddZone(const std::string& folder, std::string_view name, uint64_t energy_uj,
               uint64_t range_uj = 262143328850) const {
    const std::string zone = "sys/class/powercap/" + folder;
    WriteFile(zone + "/name", name);
    WriteFile(zone + "/energy_uj", std::to_string(energy_uj));
    if (range_uj > 0) WriteFile(zone + "/max_energy_range_uj", std::to_string(range_uj));
  }

  // What one source finds here.
  Result<FoundSource> Find(Result<FoundSource> (*find)(const Search&),
                           std::vector<PowerChannel> taken = {}) {
    return find(Search{machine_, options_, distrusted_, std::move(taken)});
  }
  DiscoverOptions& options() { return options_; }
  std::vector<Distrusted>& distrusted() { return distrusted_; }

 private:
  std::string root_;
  Machine machine_;
  DiscoverOptions options_;
  std::vector<Distrusted> distrusted_;
};

inline std::vector<std::string> NamesOf(const std::vector<PowerChannel>& channels) {
  std::vector<std::string> names;
  names.reserve(channels.size());
  for (const PowerChannel& channel : channels) names.push_back(channel.name);
  return names;
}

inline std::vector<MeterReading> ReadOnce(PowerSource& source) {
  std::vector<MeterReading> readings(source.channels().size());
  source.Read(readings);
  return readings;
}

}  // namespace beryl::sources
