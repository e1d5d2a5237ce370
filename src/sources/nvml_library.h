// NVIDIA's management library, loaded at run time. The calls in use are declared here, so that
// building needs nothing from NVIDIA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace beryl::sources::nvml {

using Device = struct nvmlDevice_st*;  // NOLINT(readability-identifier-naming): the library's own

// Return values; all others are treated alike.
enum Status : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kVersionMismatch = 18,  // of library and driver
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kInsufficientResources = 23,
  kNotReady = 27,
};

// Older versions end after `pci_subsystem_id`, or have something else there.
struct Pci {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};

struct Utilization {
  unsigned int gpu;     // percent of the time in which a kernel ran
  unsigned int memory;  // percent of the time in which memory was read or written
};

struct Memory {
  uint64_t total;
  uint64_t free;
  uint64_t used;
};

// Every version starts like this; the rest is ignored.
struct Process {
  unsigned int pid;
  uint64_t used_gpu_memory;
};
constexpr size_t kProcessSizeV1 = sizeof(Process);
constexpr size_t kProcessSizeV2 = kProcessSizeV1 + 2 * sizeof(unsigned int);  // MIG instances
constexpr size_t kProcessSizeLargest = kProcessSizeV2 + sizeof(uint64_t);     // in some drivers

struct ProcessUtilization {
  unsigned int pid;
  uint64_t time_us;
  unsigned int sm_util;
  unsigned int mem_util;
  unsigned int enc_util;
  unsigned int dec_util;
};

enum ValueType : unsigned int {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3
};

union Value {
  double as_double;
  unsigned int as_unsigned;
  uint64_t as_unsigned_long;
  uint64_t as_unsigned_long_long;
};

struct FieldValue {
  unsigned int field_id;
  unsigned int scope_id;
  int64_t timestamp_us;
  int64_t latency_us;
  ValueType value_type;
  int status;
  Value value;
};

constexpr unsigned int kFieldPowerAverage = 185;
constexpr unsigned int kFieldPowerInstant = 186;
constexpr unsigned int kClockSm = 1;
constexpr unsigned int kClockMemory = 2;
constexpr unsigned int kSensorGpu = 0;
constexpr unsigned int kArchitectureAmpere = 7;
constexpr unsigned int kArchitectureUnknown = 0xFFFFFFFF;

// Queries the processes on a GPU; the count is the capacity in and the number of processes out.
struct ProcessList {
  int (*call)(Device, unsigned int*, void*) = nullptr;
  size_t size = 0;  // of one process entry
};

struct LoadFailure {
  enum class Kind {
    kNoLibrary,  // the system cannot load it
    kLacksCall,  // it is loaded, but is not NVIDIA's, or far too old
    kRefuses,    // it does not initialize
  };
  Kind kind = Kind::kNoLibrary;
  std::string said;  // message of the system or the library
  int status = kSuccess;
};

// All calls but the essential ones may be missing in an old library: null.
class Library {
 public:
  // Loads and initializes it once per process and path: a library need not count its
  // initializations, so the first shutdown would end it for all users. Null with a `failure` if
  // that fails. Thread-safe.
  static std::shared_ptr<Library> Load(const std::string& path, LoadFailure& failure);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  std::string ErrorText(int status) const;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_count)(unsigned int*) = nullptr;
  int (*device_by_index)(unsigned int, Device*) = nullptr;
  int (*name)(Device, char*, unsigned int) = nullptr;
  int (*pci)(Device, Pci*) = nullptr;
  bool pci_has_bus_id = false;  // otherwise only the shorter one
  int (*architecture)(Device, unsigned int*) = nullptr;
  int (*total_energy_mj)(Device, uint64_t*) = nullptr;
  int (*power_mw)(Device, unsigned int*) = nullptr;
  int (*field_values)(Device, int, FieldValue*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*clock_mhz)(Device, unsigned int, unsigned int*) = nullptr;
  int (*temperature)(Device, unsigned int, unsigned int*) = nullptr;
  ProcessList compute_processes;
  ProcessList graphics_processes;
  int (*process_utilization)(Device, ProcessUtilization*, unsigned int*, uint64_t) = nullptr;
  const char* (*error_string)(int) = nullptr;

 private:
  Library(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}
  template <typename Function>
  bool Find(const std::string& symbol, Function& function);
  // An essential call, by its newest or its oldest name.
  template <typename Function>
  void FindEither(const std::string& symbol, Function& function);
  ProcessList FindProcesses(const std::string& symbol);
  void FindAll();

  std::string path_;
  void* handle_;
  std::string lacks_;  // the first essential call that is missing
  bool initialized_ = false;
};

}  // namespace beryl::sources::nvml
