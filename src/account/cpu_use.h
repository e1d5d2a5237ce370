// Who used the CPUs, package by package, in windows of time.
//
// Task times step by a scheduler tick and a CPU's busy time by a jiffy, so a quotient of two
// samples is noise. Samples are put together into windows of at least 100 ms that touch and never
// overlap: nothing lags, and over the run every nanosecond of CPU time is counted once.
//
// A task's time goes to the CPU it was seen on; where it moved between two samples, half to each.
// What does not fit on a CPU, by how busy it was and then by the time there was, goes to the other
// one first; if it still does not fit, all that ran there are cut by the same factor, and what was
// cut, up to a jiffy, counts in the next window.
//
// A CPU that is never busy in the whole recording is not there, and has no capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/recording.h"

namespace beryl::account {

struct CpuUse {
  // Times in nanoseconds of CPU time. Never: ours + recorder > busy, or busy > capacity.
  struct Cell {
    double ours = 0;
    double recorder = 0;
    double busy = 0;  // of anyone, those two included
    double capacity = 0;
  };
  struct Process {
    int32_t pid = 0;
    std::string name;
    TaskOwner owner = TaskOwner::kWatched;
    uint32_t threads = 0;
    Seconds cpu_time;
  };
  // What a process used of a package in a window.
  struct Part {
    uint32_t process = 0;
    uint16_t package = 0;  // column
    double ns = 0;
  };

  // Package numbers, in order. Column packages.size() of `cells` is all of them together.
  std::vector<uint16_t> packages;
  std::vector<Nanos> edges;  // window w runs from edges[w] to edges[w + 1]; empty: nothing is known
  std::vector<Cell> cells;   // cells[w * columns() + column]
  std::vector<Part> parts;
  std::vector<size_t> first_part;  // of each window, and the end
  std::vector<Process> processes;

  size_t columns() const { return packages.size() + 1; }
  size_t windows() const { return edges.empty() ? 0 : edges.size() - 1; }
};

// `activity` may be damaged in any way but for its indices.
CpuUse CountCpuUse(const ActivityTrace& activity);

}  // namespace beryl::account
