// Where a machine's files are. Passed in from outside, so that tests can use machines of their own.
#pragma once

#include <string>

namespace beryl::sources {

struct Machine {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  std::string nvml = "libnvidia-ml.so.1";
  // From BERYL_SYSFS, BERYL_PROCFS and BERYL_NVML.
  static Machine FromEnvironment();
};

}  // namespace beryl::sources
