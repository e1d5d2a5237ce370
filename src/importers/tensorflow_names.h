// Interprets TensorFlow's names: the device of a process; the place in the model and the phase of
// an operation.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "types/op_trace.h"

namespace beryl::importers {

// `/job:worker/replica:0/task:1/device:GPU:0/stream:7 Compute`, split into parts.
struct TensorFlowProcess {
  bool compute = false;  // a device's computation, not its tensors or allocators
  std::string task;      // "job:worker/replica:0/task:1"; empty where not given
  std::string device;    // "GPU:0"
  std::string stream;    // "stream:7", "stream:all", "memcpy", or empty
};
TensorFlowProcess ParseProcessName(std::string_view name);

// All processes of a file together determine which of them show what a device really executed, and
// the device's name.
class TensorFlowLayout {
 public:
  explicit TensorFlowLayout(const std::vector<TensorFlowProcess>& processes);

  // `stream:all` and `memcpy` repeat what the numbered streams show.
  bool IsRepetition(const TensorFlowProcess& process) const;
  // "CPU:0"; with the task as a prefix if several tasks of the file have one of that name. If a
  // GPU's streams are in the file, they are what it executed, and the operations of the GPU's own
  // process are the host's work of launching them.
  std::string DeviceName(const TensorFlowProcess& process) const;

 private:
  std::set<std::string> with_streams_;   // devices
  std::set<std::string> with_numbered_;  // devices
  std::map<std::string, std::set<std::string>> tasks_of_device_;
};

// The kind of an operation from its qualified name and type. Adds to the trace's paths and strings.
OpKind MakeTensorFlowKind(OpTrace& trace, StringId name, StringId type);

// Backward: below a `gradients` scope. Optimizer: in the scope of one, one of its slot variables,
// or an Apply operation.
Phase TensorFlowPhase(std::string_view name, std::string_view type);

}  // namespace beryl::importers
