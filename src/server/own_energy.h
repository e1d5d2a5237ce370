// What this program itself draws, by the meters of the machine and its share of the CPU time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "sources/machine.h"
#include "types/live_power.h"

namespace beryl::server {

// Finds the meters and reads them once a second, on threads of its own. Thread-safe.
class OwnEnergy {
 public:
  explicit OwnEnergy(const sources::Machine& machine);
  ~OwnEnergy();
  OwnEnergy(const OwnEnergy&) = delete;
  OwnEnergy& operator=(const OwnEnergy&) = delete;

  // The devices whose energy is divided among processes, without overlap; `ours` is this program's
  // energy since the meters were found. Empty until then, and without a meter or an estimate.
  std::vector<LiveDevice> devices();

 private:
  class Watch;
  void Run();

  const sources::Machine machine_;
  std::mutex mutex_;  // of what follows
  std::unique_ptr<Watch> watch_;
  bool is_ending_ = false;
  std::condition_variable ending_;
  std::thread reading_;
};

}  // namespace beryl::server
