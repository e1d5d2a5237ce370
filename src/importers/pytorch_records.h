// The events of a Kineto trace that matter, as read, before they are put together.
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
};

inline constexpr int64_t kNoNumber = -1;

struct KinetoRecord {
  Nanos start;
  Nanos end;
  StringId name = 0;
  StringId thread = 0;     // "pid/tid" of the host thread
  StringId shapes = 0;     // "Input Dims"
  StringId hierarchy = 0;  // "Module Hierarchy"
  int64_t external_id = kNoNumber;
  int64_t correlation = kNoNumber;  // of runtime calls and device events
  int64_t sequence = kNoNumber;     // ties a backward operation to its forward one
  uint64_t offset = 0;
  int32_t device = -1;  // number of the accelerator
  KinetoCategory category = KinetoCategory::kCpuOp;
  bool backward = false;  // the trace says so: it names a forward thread
};

// Nests, ties and names the records, and appends operations to `trace`. Strings are `trace`'s own.
void AssembleKineto(std::vector<KinetoRecord> records, OpTrace& trace, ImportReport& report);

}  // namespace beryl::importers
