// NVIDIA's management library, loaded at run time: the few calls that are made, declared here as
// its interface has them, so that nothing of NVIDIA's is needed to build.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace beryl::sources::nvml {

using Device = struct nvmlDevice_st*;  // NOLINT(readability-identifier-naming): the library's own

// What calls return; all but these are errors like any other.
enum Status : int {
  kSuccess = 0,
  kUninitialized = 1,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kGpuIsLost = 15,
  kResetRequired = 16,
};

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

struct Process {
  unsigned int pid;
  uint64_t used_gpu_memory;
  unsigned int gpu_instance_id;
  unsigned int compute_instance_id;
};

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

// Any call but those that make it a library may be missing in an old one: null.
class Library {
 public:
  // Loads and initializes it; the message of an Error is what the system or the library said.
  static Result<std::shared_ptr<Library>> Load(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string ErrorText(int status) const;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_count)(unsigned int*) = nullptr;
  int (*device_by_index)(unsigned int, Device*) = nullptr;
  int (*name)(Device, char*, unsigned int) = nullptr;
  int (*pci)(Device, Pci*) = nullptr;
  int (*total_energy_mj)(Device, uint64_t*) = nullptr;
  int (*power_mw)(Device, unsigned int*) = nullptr;
  int (*field_values)(Device, int, FieldValue*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*clock_mhz)(Device, unsigned int, unsigned int*) = nullptr;
  int (*compute_processes)(Device, unsigned int*, Process*) = nullptr;
  int (*process_utilization)(Device, ProcessUtilization*, unsigned int*, uint64_t) = nullptr;
  const char* (*error_string)(int) = nullptr;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  template <typename Function>
  void Find(const char* symbol, Function& function);
  void FindAll();

  void* handle_;
  bool initialized_ = false;
};

}  // namespace beryl::sources::nvml
