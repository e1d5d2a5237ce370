#include "sources/nvml_library.h"

#include <dlfcn.h>

#include <cstring>

#include <fmt/format.h>

namespace beryl::sources::nvml {

template <typename Function>
void Library::Find(const char* symbol, Function& function) {
  void* const address = ::dlsym(handle_, symbol);
  static_assert(sizeof(function) == sizeof(address));
  std::memcpy(&function, &address, sizeof(address));
}

void Library::FindAll() {
  Find("nvmlInit_v2", init);
  Find("nvmlShutdown", shutdown);
  Find("nvmlDeviceGetCount_v2", device_count);
  Find("nvmlDeviceGetHandleByIndex_v2", device_by_index);
  Find("nvmlDeviceGetName", name);
  Find("nvmlDeviceGetPciInfo_v3", pci);
  Find("nvmlDeviceGetTotalEnergyConsumption", total_energy_mj);
  Find("nvmlDeviceGetPowerUsage", power_mw);
  Find("nvmlDeviceGetFieldValues", field_values);
  Find("nvmlDeviceGetUtilizationRates", utilization);
  Find("nvmlDeviceGetMemoryInfo", memory);
  Find("nvmlDeviceGetClockInfo", clock_mhz);
  Find("nvmlDeviceGetComputeRunningProcesses_v3", compute_processes);
  // The second version differs in what it says of MIG, which is not looked at.
  if (!compute_processes) Find("nvmlDeviceGetComputeRunningProcesses_v2", compute_processes);
  Find("nvmlDeviceGetProcessUtilization", process_utilization);
  Find("nvmlErrorString", error_string);
}

Result<std::shared_ptr<Library>> Library::Load(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* said = ::dlerror();
    return IoError(said ? said : path + ": it cannot be loaded");
  }
  std::shared_ptr<Library> library(new Library(handle));
  library->FindAll();
  if (!library->init || !library->device_count || !library->device_by_index) {
    return InvalidError(
        fmt::format("{}: not a management library of NVIDIA's, or one from before "
                    "2012: nvmlInit_v2 and others are missing",
                    path));
  }
  if (const int status = library->init(); status != kSuccess) {
    return IoError(fmt::format("nvmlInit: {}", library->ErrorText(status)));
  }
  library->initialized_ = true;
  return library;
}

Library::~Library() {
  if (initialized_ && shutdown) shutdown();
  ::dlclose(handle_);
}

std::string Library::ErrorText(int status) const {
  const char* text = error_string ? error_string(status) : nullptr;
  return text ? fmt::format("{} ({})", text, status) : fmt::format("error {}", status);
}

}  // namespace beryl::sources::nvml
