// Which of Kineto's events are an accelerator's work, and what the accelerator is called.
//
// Kineto has one name for each kind of activity, some of them with the accelerator's name before
// it: `gpu_memcpy`, `mlu_memcpy`; `cuda_runtime`, `xpu_runtime`. Back ends from outside add their
// own. So the endings are what is judged by; where they say nothing, the process does, whose label
// is `CPU` or something like `GPU 0`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "importers/pytorch_records.h"

namespace beryl::importers {

struct KinetoActivity {
  KinetoCategory category = KinetoCategory::kUnknown;
  std::optional<NoteKind> no_work = {};  // why it is no operation, if it is none
};
KinetoActivity ActivityOf(std::string_view cat);

// "MTIA" of `mtia_ccp_events`; empty where a category names no accelerator, or just a GPU.
std::string_view AcceleratorOf(std::string_view cat);

// What the trace says about one of its processes.
struct ProcessNote {
  StringId process = 0;
  StringId text = 0;
};

// Knows the devices of a trace once all of it is read.
class KinetoDevices {
 public:
  KinetoDevices(const std::vector<ProcessNote>& notes, StringTable& strings);

  // Gives device records the names of their devices, and decides about those records whose process
  // tells what they are. What is no operation is taken out and booked.
  void Settle(std::vector<KinetoRecord>& records, ImportReport& report);

 private:
  struct Process {
    bool host = false;
    bool derived = false;     // shows again what others show
    std::string_view device;  // "GPU"; empty: none
    int32_t number = -1;
  };

  // One accelerator's runtime alone is called: a bare `kernel` is that one's.
  void FindUsual(const std::vector<KinetoRecord>& records);
  bool IsDevice(StringId process) const;
  // 0: it cannot be told.
  StringId NameOf(const KinetoRecord& record);

  StringTable& strings_;
  std::unordered_map<StringId, Process> processes_;
  std::string_view usual_ = "GPU";  // of events that say no more than that they are a device's
  std::map<std::tuple<StringId, StringId, int32_t>, StringId> names_;
};

}  // namespace beryl::importers
