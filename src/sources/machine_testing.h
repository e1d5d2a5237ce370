// A machine made of small files, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/folder_for_test.h"
#include "sources/search.h"

namespace beryl::sources {

class TestMachine : private FolderForTest {
 public:
  TestMachine() {
    machine_.sysfs = Path("sys");
    machine_.procfs = Path("proc");
    machine_.nvml = Path("libnvidia-ml.so.1");
    WriteFile("proc/stat",
              "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 50 0 0 450 0 0 0 0 0 0\n"
              "cpu1 50 0 0 450 0 0 0 0 0 0\nintr 1\n");
    std::filesystem::create_directories(Path("sys"));
  }

  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  std::string Path(const std::string& path) const { return (folder_ / path).string(); }

  // Writes in place, as the kernel would: the inode stays.
  void WriteFile(const std::string& path, std::string_view text) const {
    const std::filesystem::path whole = Path(path);
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
  }
  // Replaces the file by another one with its name.
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

// Why a search found nothing; "" unless it refused exactly one thing and found no meter.
inline std::string WhyRefused(const Result<FoundSource>& found) {
  const bool refused = found && !found->power && found->refused.size() == 1;
  return refused ? found->refused[0].reason : "";
}

inline std::vector<MeterReading> ReadOnce(PowerSource& source) {
  std::vector<MeterReading> readings(source.channels().size());
  source.Read(readings);
  return readings;
}

}  // namespace beryl::sources
