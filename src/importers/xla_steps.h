// The steps of a run, from the marks in a trace: events with a step's number on the host, and a
// line of steps on each device.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/xla_events.h"
#include "types/op_trace.h"

namespace beryl::importers {

class XlaSteps {
 public:
  // The whole program's time, on any plane.
  static constexpr uint32_t kHost = UINT32_MAX;

  struct Mark {
    std::string name;
    int64_t number = kNoXlaNumber;
    uint32_t plane = kHost;  // of the device that marks it
    XlaEvent event;
  };
  void Add(Mark mark) { marks_.push_back(std::move(mark)); }
  // Times may be shifted until the steps are made.
  std::vector<Mark>& marks() { return marks_; }

  // Adds the steps to the trace. A device's step is the host's step with that number, if there is
  // one.
  void Make(OpTrace& trace);
  // The step of an event on that plane: by its group, or else by its start, in the steps of its own
  // device if there are any; kNoStep: none.
  uint32_t StepOf(const XlaEvent& event, uint32_t plane) const;

 private:
  struct StepInterval {
    Nanos start;
    Nanos end;
    uint32_t step = kNoStep;
  };

  std::vector<Mark> marks_;
  std::unordered_map<uint32_t, std::vector<StepInterval>> intervals_;  // by plane, in order of time
  std::unordered_map<int64_t, uint32_t> step_of_group_;
};

}  // namespace beryl::importers
