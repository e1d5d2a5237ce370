// Which of Kineto's events are an accelerator's work, and the accelerator's name.
//
// Kineto has one name for each kind of activity, some with the accelerator's name as a prefix:
// `gpu_memcpy`, `mlu_memcpy`; `cuda_runtime`, `xpu_runtime`. External back ends add their own. So
// the suffix decides; if it is unknown, the process decides, whose label is `CPU` or something like
// `GPU 0`.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "importers/pytorch_records.h"

namespace beryl::importers {

struct KinetoActivity {
  KinetoCategory category = KinetoCategory::kUnknown;
  std::optional<NoteKind> no_work = {};  // why it is not an operation, if it is not
};
KinetoActivity ActivityOf(std::string_view cat);

// "MTIA" from `mtia_ccp_events`; empty if a category names no accelerator, or just a GPU.
std::string_view AcceleratorOf(std::string_view cat);

// What the trace says about one of its processes.
struct ProcessNote {
  StringId process = 0;
  StringId text = 0;
};

// Determines the devices of a trace once all of it is read.
class KinetoDevices {
 public:
  KinetoDevices(const std::vector<ProcessNote>& notes, StringTable& strings);

  // Names the devices of device records, and decides about records that depend on their process.
  // Removes and counts records that are not operations.
  void Settle(std::vector<KinetoRecord>& records, ImportReport& report);

 private:
  struct Process {
    bool host = false;
    bool derived = false;     // repeats what other events show
    std::string_view device;  // "GPU"; empty: none
    int32_t number = -1;
  };

  // Only one accelerator's runtime is called: a bare `kernel` belongs to that one.
  void FindUsual(const std::vector<KinetoRecord>& records);
  bool IsDevice(StringId process) const;
  // 0: unknown
  StringId NameOf(const KinetoRecord& record);

  StringTable& strings_;
  std::unordered_map<StringId, Process> processes_;
  std::string_view usual_ = "GPU";  // for events that only say that they are a device's
  std::map<std::tuple<StringId, StringId, int32_t>, StringId> names_;
};

}  // namespace beryl::importers
