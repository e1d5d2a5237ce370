// A stand-in for libnvidia-ml.so.1, for tests and benchmarks on machines without a GPU.
//
// BERYL_STANDIN_NVML names a text file that describes the GPUs; it is read again whenever it has
// changed, so that a test may change it while a program runs. Without it there is one GPU of 150 W
// whose counter steps every 20 ms. A line each, `#` starts a comment:
//
//   gpus 2                       how many; lines that follow "gpu N" are of that GPU, others of all
//   gpu 0
//   name NVIDIA A100
//   bus 00000000:01:00.0         none: it is not told
//   arch 7                       its architecture (7: Ampere); without it that is not told
//   power_mw 150000              constant, or
//   power_mw 50000 250000 2000   a square wave: low, high, period in ms
//   step_ms 20                   how often the energy counter steps
//   energy 1                     0: no energy counter; frozen: it stands still
//   factor 1.0                   the counter counts so many times the truth
//   instant 1                    0: no instant (nor average) power field
//   average 1                    with `instant 0`: an average power field
//   power 1                      0: nvmlDeviceGetPowerUsage is not supported
//   features 1                   0: none of what follows is supported
//   util 80                      percent
//   memory_mb 4096 40960         used, total
//   clocks 1410 1215             SM, memory; MHz
//   temp 55                      degrees Celsius
//   process PID SM_UTIL          one that runs on it; several lines
//   graphics PID SM_UTIL         one that draws on it
//   status 15                    what every call of the GPU returns (15: it is lost)
//
// Energy is the integral of the power since the epoch of CLOCK_MONOTONIC, so that every process
// sees the same. Initializations are not counted: after one shutdown every call fails as
// uninitialized. Compiled with BERYL_STANDIN_OLD it has the names and layouts of the first such
// libraries.
#include <sys/stat.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

enum NvmlReturn : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kInsufficientSize = 7,
};

std::atomic<bool> is_initialized = false;

struct Running {
  unsigned int pid = 0;
  unsigned int sm_util = 0;
  bool draws = false;
};

struct Gpu {
  std::string name = "Stand-in GPU";
  std::string bus;
  double low_mw = 150000;
  double high_mw = 150000;
  double period_ms = 1000;
  double step_ms = 20;
  std::string energy = "1";
  double factor = 1;
  bool instant = true;
  bool average = false;
  bool power = true;
  bool features = true;
  unsigned int architecture = 0xFFFFFFFF;
  unsigned int util = 80;
  double memory_used_mb = 4096;
  double memory_mb = 40960;
  unsigned int sm_mhz = 1410;
  unsigned int memory_mhz = 1215;
  unsigned int temp = 55;
  std::vector<Running> running;
  int status = kSuccess;
};

void Set(Gpu& gpu, const std::string& key, std::istringstream& rest) {
  const auto read = [&](const char* name, auto&... values) {
    if (key == name) (rest >> ... >> values);
  };
  read("bus", gpu.bus);
  read("power_mw", gpu.low_mw);
  read("step_ms", gpu.step_ms);
  read("energy", gpu.energy);
  read("factor", gpu.factor);
  read("instant", gpu.instant);
  read("average", gpu.average);
  read("power", gpu.power);
  read("features", gpu.features);
  read("arch", gpu.architecture);
  read("util", gpu.util);
  read("memory_mb", gpu.memory_used_mb, gpu.memory_mb);
  read("clocks", gpu.sm_mhz, gpu.memory_mhz);
  read("temp", gpu.temp);
  read("status", gpu.status);
  if (key == "name") {
    std::getline(rest >> std::ws, gpu.name);
  } else if (key == "power_mw") {
    if (!(rest >> gpu.high_mw >> gpu.period_ms)) gpu.high_mw = gpu.low_mw;
  } else if (key == "process" || key == "graphics") {
    Running one;
    rest >> one.pid >> one.sm_util;
    one.draws = key == "graphics";
    gpu.running.push_back(one);
  }
}

std::vector<Gpu> ReadGpus(const char* path) {
  std::vector<Gpu> gpus(1);
  std::ifstream file(path ? path : "");
  std::string line;
  size_t chosen = SIZE_MAX;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string key;
    if (!(words >> key)) continue;
    if (key == "gpus") {
      size_t count = 1;
      words >> count;
      gpus.resize(std::min<size_t>(count, 64));
    } else if (key == "gpu") {
      words >> chosen;
    } else {
      for (size_t i = 0; i < gpus.size(); ++i) {
        std::istringstream again(words.str());
        again >> key;
        if (chosen == SIZE_MAX || chosen == i) Set(gpus[i], key, again);
      }
    }
  }
  return gpus;
}

// Checking whether the file has changed is cheap; reading it at each call would cost more than the
// real library, and show up in benchmarks.
std::shared_ptr<const std::vector<Gpu>> Gpus() {
  static std::mutex mutex;
  static std::shared_ptr<const std::vector<Gpu>> known;
  static struct stat known_file {};
  const char* path = std::getenv("BERYL_STANDIN_NVML");
  struct stat file {};
  if (path && ::stat(path, &file) != 0) file = {};
  const std::lock_guard lock(mutex);
  const bool same = known && file.st_ino == known_file.st_ino &&
                    file.st_size == known_file.st_size &&
                    file.st_mtim.tv_sec == known_file.st_mtim.tv_sec &&
                    file.st_mtim.tv_nsec == known_file.st_mtim.tv_nsec;
  if (!same) {
    known = std::make_shared<const std::vector<Gpu>>(ReadGpus(path));
    known_file = file;
  }
  return known;
}

double NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Low in the first half of a period, high in the second.
double PowerMw(const Gpu& gpu, double ms) {
  return std::fmod(ms, gpu.period_ms) < gpu.period_ms / 2 ? gpu.low_mw : gpu.high_mw;
}

[[maybe_unused]] double EnergyMj(const Gpu& gpu, double ms) {
  const double whole = std::floor(ms / gpu.period_ms);
  const double rest = ms - whole * gpu.period_ms;
  const double half = gpu.period_ms / 2;
  const double high_ms = whole * half + std::max(0.0, rest - half);
  return ((ms - high_ms) * gpu.low_mw + high_ms * gpu.high_mw) * 1e-3;
}

// Calls `use` with the GPU of the handle.
template <typename Use>
int With(const void* device, Use&& use) {
  if (!is_initialized) return kUninitialized;
  const auto index = reinterpret_cast<uintptr_t>(device);
  const auto gpus = Gpus();
  if (index == 0 || index > gpus->size()) return kInvalidArgument;
  const Gpu& gpu = (*gpus)[index - 1];
  return gpu.status != kSuccess ? gpu.status : use(gpu, index - 1);
}

// The same for calls that not every GPU supports.
template <typename Use>
int WithFeatures(const void* device, Use&& use) {
  return With(device, [&](const Gpu& gpu, size_t index) {
    return gpu.features ? use(gpu, index) : kNotSupported;
  });
}

struct Pci {
  char bus_id_legacy[16];
#ifdef BERYL_STANDIN_OLD
  unsigned int numbers[4];
#else
  unsigned int numbers[5];
  char bus_id[32];
#endif
};
struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Process {
  unsigned int pid;
  unsigned long long used_gpu_memory;
#ifndef BERYL_STANDIN_OLD
  unsigned int gpu_instance_id;
  unsigned int compute_instance_id;
#endif
};
struct Sample {
  unsigned int pid;
  unsigned long long time_us;
  unsigned int sm_util;
  unsigned int mem_util;
  unsigned int enc_util;
  unsigned int dec_util;
};
struct FieldValue {
  unsigned int field_id;
  unsigned int scope_id;
  long long timestamp_us;
  long long latency_us;
  unsigned int value_type;
  int status;
  unsigned long long value;
};

int ListProcesses(void* device, bool drawing, unsigned int* count, Process* infos) {
  return WithFeatures(device, [&](const Gpu& gpu, size_t) {
    const unsigned int room = *count;
    *count = 0;
    for (const Running& one : gpu.running) {
      if (one.draws != drawing) continue;
      if (*count < room) {
        infos[*count] = {};
        infos[*count].pid = one.pid;
        infos[*count].used_gpu_memory = 1 << 20;
      }
      ++*count;
    }
    return *count > room ? kInsufficientSize : kSuccess;
  });
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names of the library that this stands in for
extern "C" {

#ifdef BERYL_STANDIN_OLD
#define BERYL_VERSIONED(name, version) name
#else
#define BERYL_VERSIONED(name, version) name##version
#endif

int BERYL_VERSIONED(nvmlInit, _v2)() {
  is_initialized = true;
  return kSuccess;
}
int nvmlShutdown() {
  is_initialized = false;
  return kSuccess;
}
const char* nvmlErrorString(int status) {
  return status == 15 ? "GPU is lost" : status == kNotSupported ? "Not Supported" : "some error";
}

int BERYL_VERSIONED(nvmlDeviceGetCount, _v2)(unsigned int* count) {
  *count = static_cast<unsigned int>(Gpus()->size());
  return is_initialized ? kSuccess : kUninitialized;
}

int BERYL_VERSIONED(nvmlDeviceGetHandleByIndex, _v2)(unsigned int index, void** device) {
  *device = reinterpret_cast<void*>(uintptr_t{index} + 1);
  return index < Gpus()->size() ? kSuccess : kInvalidArgument;
}

int nvmlDeviceGetName(void* device, char* name, unsigned int size) {
  return With(device, [&](const Gpu& gpu, size_t) {
    std::snprintf(name, size, "%s", gpu.name.c_str());
    return kSuccess;
  });
}

int BERYL_VERSIONED(nvmlDeviceGetPciInfo, _v3)(void* device, Pci* pci) {
  return With(device, [&](const Gpu& gpu, size_t index) {
    if (gpu.bus == "none") return kNotSupported;
    std::memset(pci, 0, sizeof(*pci));
    const auto bus = static_cast<unsigned int>(index + 1);
    std::snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "0000:%02X:00.0", bus);
#ifndef BERYL_STANDIN_OLD
    if (gpu.bus.empty()) {
      std::snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", bus);
    } else {
      std::snprintf(pci->bus_id, sizeof(pci->bus_id), "%s", gpu.bus.c_str());
    }
#endif
    return kSuccess;
  });
}

#ifndef BERYL_STANDIN_OLD
int nvmlDeviceGetArchitecture(void* device, unsigned int* architecture) {
  return With(device, [&](const Gpu& gpu, size_t) {
    *architecture = gpu.architecture;
    return kSuccess;
  });
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return With(device, [&](const Gpu& gpu, size_t) {
    if (gpu.energy == "0") return kNotSupported;
    const double ms =
        gpu.energy == "frozen" ? 1e6 : std::floor(NowMs() / gpu.step_ms) * gpu.step_ms;
    *millijoules = static_cast<unsigned long long>(EnergyMj(gpu, ms) * gpu.factor);
    return kSuccess;
  });
}

#endif

int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) {
  return With(device, [&](const Gpu& gpu, size_t) {
    if (!gpu.power) return kNotSupported;
    *milliwatts = static_cast<unsigned int>(PowerMw(gpu, NowMs()));
    return kSuccess;
  });
}

#ifndef BERYL_STANDIN_OLD
int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  return With(device, [&](const Gpu& gpu, size_t) {
    for (int i = 0; i < count; ++i) {
      const bool known = (values[i].field_id == 185 && (gpu.instant || gpu.average)) ||
                         (values[i].field_id == 186 && gpu.instant);
      values[i].status = known ? kSuccess : kNotSupported;
      values[i].value_type = 1;
      values[i].value = static_cast<unsigned int>(PowerMw(gpu, NowMs()));
    }
    return kSuccess;
  });
}

#endif

int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  return WithFeatures(device, [&](const Gpu& gpu, size_t) {
    *rates = {gpu.util, gpu.util / 2};
    return kSuccess;
  });
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  return WithFeatures(device, [&](const Gpu& gpu, size_t) {
    const auto bytes = [](double mb) { return static_cast<unsigned long long>(mb * 1048576); };
    *memory = {bytes(gpu.memory_mb), bytes(gpu.memory_mb - gpu.memory_used_mb),
               bytes(gpu.memory_used_mb)};
    return kSuccess;
  });
}

int nvmlDeviceGetClockInfo(void* device, unsigned int type, unsigned int* mhz) {
  return WithFeatures(device, [&](const Gpu& gpu, size_t) {
    *mhz = type == 2 ? gpu.memory_mhz : gpu.sm_mhz;
    return kSuccess;
  });
}

int nvmlDeviceGetTemperature(void* device, unsigned int /*sensor*/, unsigned int* degrees) {
  return WithFeatures(device, [&](const Gpu& gpu, size_t) {
    *degrees = gpu.temp;
    return kSuccess;
  });
}

int BERYL_VERSIONED(nvmlDeviceGetComputeRunningProcesses, _v3)(void* device, unsigned int* count,
                                                               Process* infos) {
  return ListProcesses(device, false, count, infos);
}

int BERYL_VERSIONED(nvmlDeviceGetGraphicsRunningProcesses, _v3)(void* device, unsigned int* count,
                                                                Process* infos) {
  return ListProcesses(device, true, count, infos);
}

int nvmlDeviceGetProcessUtilization(void* device, Sample* samples, unsigned int* count,
                                    unsigned long long /*seen_us*/) {
  return WithFeatures(device, [&](const Gpu& gpu, size_t) {
    const unsigned int room = *count;
    *count = static_cast<unsigned int>(gpu.running.size());
    if (*count > room) return kInsufficientSize;
    const auto now_us = static_cast<unsigned long long>(NowMs() * 1e3);
    for (size_t i = 0; i < gpu.running.size(); ++i) {
      samples[i] = {gpu.running[i].pid, now_us, gpu.running[i].sm_util, 0, 0, 0};
    }
    return kSuccess;
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
