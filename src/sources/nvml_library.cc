#include "sources/nvml_library.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

namespace beryl::sources::nvml {
namespace {

struct Shared {
  std::weak_ptr<Library> library;
  size_t initialized = 0;  // briefly two: one closing and one opening
};

std::mutex& SharedMutex() {
  static std::mutex mutex;
  return mutex;
}

std::map<std::string, Shared>& SharedLibraries() {
  static auto* const kLibraries = new std::map<std::string, Shared>;  // outlives every Library
  return *kLibraries;
}

}  // namespace

template <typename Function>
bool Library::Find(const std::string& symbol, Function& function) {
  void* const address = ::dlsym(handle_, symbol.c_str());
  static_assert(sizeof(function) == sizeof(address));
  std::memcpy(&function, &address, sizeof(address));
  return address != nullptr;
}

template <typename Function>
void Library::FindEither(const std::string& symbol, Function& function) {
  if (!Find(symbol + "_v2", function) && !Find(symbol, function) && lacks_.empty()) {
    lacks_ = symbol;
  }
}

// Try the second version first: some drivers (535.43 to 535.86) lay out the third differently, and
// it differs only in MIG fields, which are not used.
ProcessList Library::FindProcesses(const std::string& symbol) {
  ProcessList list;
  list.size = kProcessSizeV2;
  if (Find(symbol + "_v2", list.call) || Find(symbol + "_v3", list.call)) return list;
  list.size = kProcessSizeV1;
  Find(symbol, list.call);
  return list;
}

void Library::FindAll() {
  FindEither("nvmlInit", init);
  FindEither("nvmlDeviceGetCount", device_count);
  FindEither("nvmlDeviceGetHandleByIndex", device_by_index);
  Find("nvmlShutdown", shutdown);
  Find("nvmlDeviceGetName", name);
  pci_has_bus_id = Find("nvmlDeviceGetPciInfo_v3", pci);
  if (!pci && !Find("nvmlDeviceGetPciInfo_v2", pci)) Find("nvmlDeviceGetPciInfo", pci);
  Find("nvmlDeviceGetArchitecture", architecture);
  Find("nvmlDeviceGetTotalEnergyConsumption", total_energy_mj);
  Find("nvmlDeviceGetPowerUsage", power_mw);
  Find("nvmlDeviceGetFieldValues", field_values);
  Find("nvmlDeviceGetUtilizationRates", utilization);
  Find("nvmlDeviceGetMemoryInfo", memory);
  Find("nvmlDeviceGetClockInfo", clock_mhz);
  Find("nvmlDeviceGetTemperature", temperature);
  compute_processes = FindProcesses("nvmlDeviceGetComputeRunningProcesses");
  graphics_processes = FindProcesses("nvmlDeviceGetGraphicsRunningProcesses");
  Find("nvmlDeviceGetProcessUtilization", process_utilization);
  Find("nvmlErrorString", error_string);
}

std::shared_ptr<Library> Library::Load(const std::string& path, LoadFailure& failure) {
  std::shared_ptr<Library> library;  // destroyed after the lock: its destructor takes the lock too
  const std::lock_guard lock(SharedMutex());
  Shared& shared = SharedLibraries()[path];
  if (auto loaded = shared.library.lock()) return loaded;
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* said = ::dlerror();
    failure = {LoadFailure::Kind::kNoLibrary, said ? said : path + ": it cannot be loaded"};
    return nullptr;
  }
  library.reset(new Library(path, handle));
  library->FindAll();
  if (!library->lacks_.empty()) {
    failure = {LoadFailure::Kind::kLacksCall,
               fmt::format("{} was loaded, but has no {}", path, library->lacks_)};
    return nullptr;
  }
  if (const int status = library->init(); status != kSuccess) {
    failure = {LoadFailure::Kind::kRefuses, fmt::format("nvmlInit: {}", library->ErrorText(status)),
               status};
    return nullptr;
  }
  library->initialized_ = true;
  ++shared.initialized;
  shared.library = library;
  return library;
}

Library::~Library() {
  const std::lock_guard lock(SharedMutex());
  if (initialized_ && --SharedLibraries()[path_].initialized == 0 && shutdown) shutdown();
  ::dlclose(handle_);
}

std::string Library::ErrorText(int status) const {
  const char* text = error_string ? error_string(status) : nullptr;
  return text ? fmt::format("{} ({})", text, status) : fmt::format("error {}", status);
}

}  // namespace beryl::sources::nvml
