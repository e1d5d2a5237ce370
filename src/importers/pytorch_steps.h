// The steps in a file of PyTorch's profiler.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/pytorch_records.h"
#include "types/op_trace.h"

namespace beryl::importers {

class KinetoSteps {
 public:
  // Adds the steps among `records` to those of `trace`. Ranks share the same steps; a rank that
  // repeats a name is in another step.
  KinetoSteps(const std::vector<KinetoRecord>& records, uint16_t rank, OpTrace& trace);

  // The number of the step at that time, or kNoStep.
  uint32_t At(Nanos time) const;

 private:
  // A step in this file.
  struct Window {
    Nanos start;
    Nanos end;
    StringId name = 0;
    uint32_t number = 0;
  };
  std::vector<Window> windows_;  // by start
};

}  // namespace beryl::importers
