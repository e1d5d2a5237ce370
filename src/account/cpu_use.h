// Who used the CPUs, by package and window of time.
//
// Task times advance by a scheduler tick and a CPU's busy time by a jiffy, so the quotient of two
// samples is noise. Samples are combined into adjacent windows of at least 100 ms: nothing lags,
// and every nanosecond of CPU time counts once over the run.
//
// A task's time goes to the CPU it was seen on; if it moved between two samples, half to each. Time
// that does not fit on a CPU (by its busy time, then by elapsed time) goes to the other CPU first.
// If it still does not fit, all tasks there are reduced by the same factor, and the reduction, up
// to a jiffy, counts in the next window.
//
// A CPU that is never busy in the whole recording is absent and has no capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/recording.h"

namespace beryl::account {

struct CpuUse {
  // Nanoseconds of CPU time. Always: ours + recorder <= busy <= capacity.
  struct Cell {
    double ours = 0;
    double recorder = 0;
    double busy = 0;  // by anyone, including those two
    double capacity = 0;
  };
  struct Process {
    int32_t pid = 0;
    std::string name;
    TaskOwner owner = TaskOwner::kWatched;
    uint32_t threads = 0;
    Seconds cpu_time;
  };
  // A process's use of a package in a window.
  struct Part {
    uint32_t process = 0;
    uint16_t package = 0;  // column
    double ns = 0;
  };

  // Package numbers, in order. Column packages.size() of `cells` is their sum.
  std::vector<uint16_t> packages;
  std::vector<Nanos> edges;  // window w runs from edges[w] to edges[w + 1]; empty: nothing known
  std::vector<Cell> cells;   // cells[w * columns() + column]
  std::vector<Part> parts;
  std::vector<size_t> first_part;  // by window, and the end
  std::vector<Process> processes;

  size_t columns() const { return packages.size() + 1; }
  size_t windows() const { return edges.empty() ? 0 : edges.size() - 1; }
};

// Tolerates any damage in `activity` except wrong indices.
CpuUse CountCpuUse(const ActivityTrace& activity);

}  // namespace beryl::account
