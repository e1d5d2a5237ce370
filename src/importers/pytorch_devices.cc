#include "importers/pytorch_devices.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::importers {
namespace {

struct CategoryName {
  std::string_view name;
  KinetoCategory category;
};

// The categories of nearly all events, and the names used before 1.11.
constexpr std::array<CategoryName, 14> kCategories = {{
    {"cpu_op", KinetoCategory::kCpuOp},
    {"python_function", KinetoCategory::kModule},
    {"kernel", KinetoCategory::kDevice},
    {"cuda_runtime", KinetoCategory::kRuntime},
    {"user_annotation", KinetoCategory::kAnnotation},
    {"gpu_memcpy", KinetoCategory::kDevice},
    {"gpu_memset", KinetoCategory::kDevice},
    {"Operator", KinetoCategory::kCpuOp},
    {"Kernel", KinetoCategory::kDevice},
    {"Runtime", KinetoCategory::kRuntime},
    {"Memcpy", KinetoCategory::kDevice},
    {"Memset", KinetoCategory::kDevice},
    {"Python function", KinetoCategory::kModule},
    {"hpu_op", KinetoCategory::kCallOrDevice},
}};

struct CategoryEnding {
  std::string_view ending;
  KinetoActivity activity;
};

constexpr std::array<CategoryEnding, 15> kEndings = {{
    {"_runtime", {KinetoCategory::kRuntime, {}}},
    {"_driver", {KinetoCategory::kRuntime, {}}},
    {"_memcpy", {KinetoCategory::kDevice, {}}},
    {"_memset", {KinetoCategory::kDevice, {}}},
    {"_kernel", {KinetoCategory::kDevice, {}}},
    {"_ccp_events", {KinetoCategory::kDevice, {}}},
    {"_user_annotation", {KinetoCategory::kUnknown, NoteKind::kMirroredAnnotation}},
    {"overhead", {KinetoCategory::kUnknown, NoteKind::kProfilerOverhead}},
    {"_sync", {KinetoCategory::kUnknown, NoteKind::kSynchronisation}},
    {"_event", {KinetoCategory::kUnknown, NoteKind::kSynchronisation}},
    {"_notifier", {KinetoCategory::kUnknown, NoteKind::kSynchronisation}},
    {"_profiler_range", {KinetoCategory::kUnknown, NoteKind::kHardwareCounters}},
    {"_scope_profiler", {KinetoCategory::kUnknown, NoteKind::kHardwareCounters}},
    {"_counters", {KinetoCategory::kUnknown, NoteKind::kCounterEvent}},
    {"Trace", {KinetoCategory::kUnknown, NoteKind::kTraceSpan}},
}};

struct Accelerator {
  std::string_view prefix;
  std::string_view name;
};

// PyTorch's device types other than GPUs, including those of external back ends with profilers.
constexpr std::array<Accelerator, 10> kAccelerators = {{
    {"mtia", "MTIA"},
    {"xpu", "XPU"},
    {"hpu", "HPU"},
    {"npu", "NPU"},
    {"mlu", "MLU"},
    {"gcu", "GCU"},
    {"ipu", "IPU"},
    {"tpu", "TPU"},
    {"maia", "MAIA"},
    {"musa", "MUSA"},
}};

struct DeviceLabel {
  std::string_view device;  // "GPU"
  int32_t number = -1;
};

// `GPU 0`, `NPU`.
std::optional<DeviceLabel> ParseLabel(std::string_view text) {
  DeviceLabel label;
  const size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  if (word == "GPU") label.device = "GPU";
  for (const Accelerator& accelerator : kAccelerators) {
    if (word == accelerator.name) label.device = accelerator.name;
  }
  if (label.device.empty()) return std::nullopt;
  if (space != std::string_view::npos) {
    const auto number = ParseNumber(text.substr(space + 1));
    if (!number || *number < 0 || *number >= 10'000) return std::nullopt;
    label.number = static_cast<int32_t>(*number);
  }
  return label;
}

}  // namespace

KinetoActivity ActivityOf(std::string_view cat) {
  for (const CategoryName& known : kCategories) {
    if (known.name == cat) return {known.category, {}};
  }
  for (const CategoryEnding& known : kEndings) {
    if (cat.ends_with(known.ending)) return known.activity;
  }
  return {};
}

std::string_view AcceleratorOf(std::string_view cat) {
  const size_t end = cat.find('_');
  if (end == std::string_view::npos) return {};
  for (const Accelerator& accelerator : kAccelerators) {
    if (cat.substr(0, end) == accelerator.prefix) return accelerator.name;
  }
  return {};
}

KinetoDevices::KinetoDevices(const std::vector<ProcessNote>& notes, StringTable& strings)
    : strings_(strings) {
  for (const ProcessNote& note : notes) {
    Process& process = processes_[note.process];
    const std::string_view text = strings.Text(note.text);
    if (text == "CPU") process.host = true;
    if (text == "Overlap Analysis") process.derived = true;
    if (const auto label = ParseLabel(text)) {
      process.device = label->device;
      process.number = label->number;
    }
  }
}

bool KinetoDevices::IsDevice(StringId process) const {
  const auto known = processes_.find(process);
  // In a container the program may have the number of a GPU: then both share a process.
  return known != processes_.end() && !known->second.host && !known->second.derived &&
         !known->second.device.empty();
}

StringId KinetoDevices::NameOf(const KinetoRecord& record) {
  auto [place, is_new] =
      names_.try_emplace({record.process, record.device, record.device_number}, 0);
  if (!is_new) return place->second;
  const auto process = processes_.find(record.process);
  const bool labelled = process != processes_.end() && !process->second.device.empty();
  std::string_view device = strings_.Text(record.device);
  if (device.empty()) device = labelled ? process->second.device : usual_;
  int32_t number = record.device_number;
  // A label without a number belongs to the only device.
  if (number < 0 && labelled) number = std::max(process->second.number, 0);
  if (number < 0) {
    // Otherwise the process is the device's number.
    const double pid = ParseNumber(strings_.Text(record.process)).value_or(-1);
    if (pid >= 0 && pid < 10'000) number = static_cast<int32_t>(pid);
  }
  if (number >= 0) place->second = strings_.Intern(fmt::format("{}:{}", device, number));
  return place->second;
}

void KinetoDevices::FindUsual(const std::vector<KinetoRecord>& records) {
  std::optional<StringId> runtime;
  for (const KinetoRecord& record : records) {
    if (record.category != KinetoCategory::kRuntime) continue;
    if (runtime && *runtime != record.device) return;
    runtime = record.device;
  }
  if (runtime && *runtime != 0) usual_ = strings_.Text(*runtime);
}

void KinetoDevices::Settle(std::vector<KinetoRecord>& records, ImportReport& report) {
  FindUsual(records);
  auto settle = [&](KinetoRecord& record) {
    if (record.category == KinetoCategory::kCallOrDevice ||
        record.category == KinetoCategory::kUnknown) {
      if (IsDevice(record.process)) {
        record.category = KinetoCategory::kDevice;
      } else if (record.category == KinetoCategory::kCallOrDevice) {
        record.category = KinetoCategory::kRuntime;
      } else {
        report.Count(NoteKind::kOtherCategory, record.offset);
        return false;
      }
    }
    if (record.category != KinetoCategory::kDevice) {
      record.device = 0;
      return true;
    }
    const auto process = processes_.find(record.process);
    if (process != processes_.end() && process->second.derived) {
      report.Count(NoteKind::kRepeatsProcesses, record.offset);
      return false;
    }
    record.device = NameOf(record);
    if (record.device != 0) return true;
    report.Count(NoteKind::kDeviceEventWithoutDevice, record.offset);
    return false;
  };
  size_t kept = 0;
  for (KinetoRecord& record : records) {
    if (settle(record)) records[kept++] = record;
  }
  records.resize(kept);
}

}  // namespace beryl::importers
