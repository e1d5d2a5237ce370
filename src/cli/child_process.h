// A command run as a child: held back until its meters are read, and let go when they are.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace beryl::cli {

// Takes as many open files as the system lets us have: every thread that is watched takes two.
// Children get the limit that was there before.
void RaiseFileLimit();

// What a child leaves behind when it ends is ours from then on, so that it is still watched.
void AdoptOrphans();

class ChildProcess {
 public:
  // Forks. The child waits for Release. Signals that are blocked here are not in the child.
  static Result<ChildProcess> Prepare(const std::vector<std::string>& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  // A child that was never let go is killed; one that has ended is waited for.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Lets it run. An Error: the command cannot be started.
  Result<bool> Release();
  // Its exit code, 128 + the signal that ended it, or nothing while it runs. Its times can still be
  // read until it is waited for.
  std::optional<int> Ended();
  void Signal(int signal) const;
  void Wait();

 private:
  ChildProcess() = default;
  void CloseAll();

  std::string name_;
  pid_t pid_ = -1;
  int go_ = -1;      // closed without a byte: do not run
  int failed_ = -1;  // what exec said
  std::optional<int> exit_code_;
};

}  // namespace beryl::cli
