// Shared by the benchmarks.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace beryl {

// Peak memory in MiB of a process that only does `work`. It starts as large as this process, so
// measure peaks while this one is small.
template <typename Work>
double PeakMemory(Work&& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    benchmark::DoNotOptimize(work());
    ::_exit(0);
  }
  rusage usage{};
  int status = 0;
  if (::wait4(child, &status, 0, &usage) != child || status != 0) std::abort();
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

inline bool OnlyLists(int argc, char** argv) {
  return argc > 1 && std::string(argv[1]).starts_with("--benchmark_list_tests");
}

// By size, for the final table; nothing if benchmarks are only listed.
template <typename Work>
std::map<size_t, double> PeakMemories(const std::vector<size_t>& sizes, bool only_listing,
                                      Work&& work) {
  std::map<size_t, double> peaks;
  for (const size_t size : sizes) {
    if (!only_listing) peaks[size] = PeakMemory([&] { return work(size); });
  }
  return peaks;
}

// A benchmark "name/size"; `body` gets the state.
template <typename Body>
void AddBenchmark(const char* name, size_t size, int repetitions, Body body) {
  benchmark::RegisterBenchmark((name + ("/" + std::to_string(size))).c_str(), body)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->Repetitions(repetitions)
      ->MinTime(0.2);
}

// Prints as usual and remembers the best time of each benchmark, by its name.
class BestTimes : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double time = run.real_accumulated_time / static_cast<double>(run.iterations);
      auto [place, is_new] = best_.try_emplace(run.run_name.function_name, time);
      if (!is_new) place->second = std::min(place->second, time);
    }
    ConsoleReporter::ReportRuns(runs);
  }
  bool empty() const { return best_.empty(); }
  double Seconds(const std::string& name) const {
    const auto place = best_.find(name);
    return place == best_.end() ? 0 : place->second;
  }

 private:
  std::map<std::string, double> best_;
};

}  // namespace beryl
