// The relevant events of a PyTorch trace, as read, before they are combined. Kineto's traces and
// those of its predecessor become the same records.
#pragma once

#include <cstdint>
#include <vector>

#include "base/string_table.h"
#include "base/units.h"
#include "importers/chrome_events.h"
#include "types/op_trace.h"

namespace beryl::importers {

enum class KinetoCategory : uint8_t {
  kCpuOp,       // a tensor operation on the host
  kRuntime,     // a call into the accelerator's runtime or driver
  kModule,      // the time a module's forward takes (`nn.Module: Linear_3`)
  kAnnotation,  // a region marked by the program
  kStep,        // ProfilerStep#n
  kDevice,      // a kernel, memcpy or memset on an accelerator
  // Its process decides whether it is a device's work. On the host it is
  kCallOrDevice,  // a runtime call
  kUnknown,       // unknown
};

inline bool IsHostOp(KinetoCategory category) {
  return category == KinetoCategory::kCpuOp || category == KinetoCategory::kRuntime;
}
inline bool IsScope(KinetoCategory category) {
  return category == KinetoCategory::kModule || category == KinetoCategory::kAnnotation;
}

inline constexpr int64_t kNoNumber = -1;

struct KinetoRecord {
  Nanos start;
  Nanos end;
  StringId name = 0;
  StringId thread = 0;     // "pid/tid" of the host thread
  StringId process = 0;    // pid
  StringId shapes = 0;     // "Input Dims"
  StringId dtype = 0;      // of a matrix product: the first of "Input type"
  StringId hierarchy = 0;  // "Module Hierarchy"
  // The device it ran on, such as "GPU:0"; 0 on the host: CPU:0. Before devices are named, the kind
  // of accelerator from its category ("MTIA"), or 0.
  StringId device = 0;
  int64_t external_id = kNoNumber;
  // Connects device events to the call that launched them; an operation with a correlation launched
  // them itself.
  int64_t correlation = kNoNumber;
  int64_t sequence = kNoNumber;  // connects a backward operation to its forward one
  uint64_t offset = 0;
  int32_t device_number = -1;  // from the event's arguments
  KinetoCategory category = KinetoCategory::kCpuOp;
  bool backward = false;  // the trace says so: it names a forward thread
  // A device event that encloses the device events of called operations.
  bool encloses = false;
};

// Collects the records of all workers, with the trace's strings.
class RecordCollector {
 public:
  // `batches`: how many to expect.
  RecordCollector(OpTrace& trace, ImportReport& report, size_t batches)
      : trace_(trace), report_(report), batches_(batches) {}

  // What maps the worker's strings to the trace's; nullptr if the batch is not to be kept.
  const StringRemap* Add(auto& batch, size_t worker, bool keep) {
    StringRemap& remap = OfWorker(remaps_, worker);
    remap.Add(batch.new_strings, trace_.strings);
    if (!keep) return nullptr;
    batch.BookIn(report_);
    if (records.empty()) records.reserve(batch.records.size() * batches_);
    for (KinetoRecord& record : batch.records) {
      for (StringId* id : {&record.name, &record.thread, &record.shapes, &record.dtype,
                           &record.hierarchy, &record.process, &record.device}) {
        *id = remap[*id];
      }
      records.push_back(record);
    }
    return &remap;
  }

  std::vector<KinetoRecord> records;

 private:
  OpTrace& trace_;
  ImportReport& report_;
  size_t batches_;
  std::vector<StringRemap> remaps_;
};

// Nests, connects and names the records, and appends operations to `trace`, on the rank in
// `report`. Strings are those of `trace`; only categories above kCallOrDevice.
void AssembleKineto(std::vector<KinetoRecord> records, OpTrace& trace, ImportReport& report);

}  // namespace beryl::importers
