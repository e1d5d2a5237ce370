// The events of a PyTorch trace that matter, as read, before they are put together. Kineto's traces
// and those of the profiler before it become the same records.
#pragma once

#include <cstdint>
#include <vector>

#include "base/string_table.h"
#include "base/units.h"
#include "types/op_trace.h"

namespace beryl::importers {

enum class KinetoCategory : uint8_t {
  kCpuOp,       // a tensor operation on the host
  kRuntime,     // a call into the accelerator's runtime or driver
  kModule,      // the time a module's forward takes (`nn.Module: Linear_3`)
  kAnnotation,  // a region marked by the program
  kStep,        // ProfilerStep#n
  kDevice,      // a kernel, memcpy or memset on an accelerator
  // Only its process tells whether it is a device's work. On the host it is
  kCallOrDevice,  // a runtime call
  kUnknown,       // nothing that is known
};

inline constexpr int64_t kNoNumber = -1;

struct KinetoRecord {
  Nanos start;
  Nanos end;
  StringId name = 0;
  StringId thread = 0;     // "pid/tid" of the host thread
  StringId process = 0;    // pid
  StringId shapes = 0;     // "Input Dims"
  StringId hierarchy = 0;  // "Module Hierarchy"
  // The device it ran on, such as "GPU:0"; 0 on the host: CPU:0. Before devices are named, the kind
  // of accelerator that its category tells ("MTIA"), or 0.
  StringId device = 0;
  int64_t external_id = kNoNumber;
  // Ties device events to the call that launched them; an operation that has one launched them
  // itself.
  int64_t correlation = kNoNumber;
  int64_t sequence = kNoNumber;  // ties a backward operation to its forward one
  uint64_t offset = 0;
  int32_t device_number = -1;  // as the event's arguments tell it
  KinetoCategory category = KinetoCategory::kCpuOp;
  bool backward = false;  // the trace says so: it names a forward thread
  // A device event that encloses those of the operations its operation called.
  bool encloses = false;
};

// Nests, ties and names the records, and appends operations to `trace`, on the rank that `report`
// names. Strings are `trace`'s own; only categories above kCallOrDevice.
void AssembleKineto(std::vector<KinetoRecord> records, OpTrace& trace, ImportReport& report);

}  // namespace beryl::importers
