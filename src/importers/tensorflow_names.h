// What TensorFlow's names say: of processes, which device; of operations, the place in the model
// and the phase.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "types/op_trace.h"

namespace beryl::importers {

// `/job:worker/replica:0/task:1/device:GPU:0/stream:7 Compute`, taken apart.
struct TensorFlowProcess {
  bool compute = false;  // a device's computation, not its tensors or allocators
  std::string task;      // "job:worker/replica:0/task:1"; empty where not given
  std::string device;    // "GPU:0"
  std::string stream;    // "stream:7", "stream:all", "memcpy", or empty
};
TensorFlowProcess ParseProcessName(std::string_view name);

// All processes of a file together decide which of them show what a device really ran, and what it
// is called.
class TensorFlowLayout {
 public:
  explicit TensorFlowLayout(const std::vector<TensorFlowProcess>& processes);

  // `stream:all` and `memcpy` show again what the numbered streams show.
  bool IsRepetition(const TensorFlowProcess& process) const;
  // "CPU:0"; with the task before it where several tasks of the file have one of that name. Where a
  // GPU's streams are in the file, they are what it ran, and the operations of the GPU's own
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
