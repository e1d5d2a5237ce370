// What the benchmarks have in common.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace beryl {

// Peak memory in MiB of a process that does `work` and nothing else. It starts as large as this one
// is, so peaks are taken while this one is small.
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
