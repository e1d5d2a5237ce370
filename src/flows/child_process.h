// A command run as a child process, held back until its meters are read.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace beryl::flows {

// Raises the limit of open files as far as allowed: every watched thread needs two. Children get
// the original limit.
void RaiseFileLimit();

// Makes this process the parent of orphaned descendants, so that they are still watched.
void AdoptOrphans();

class ChildProcess {
 public:
  // Forks. The child waits for Release and does not inherit blocked signals.
  static Result<ChildProcess> Prepare(const std::vector<std::string>& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  // Kills a child that was never released; waits for one that has ended.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Lets it run. Fails if the command cannot be started.
  Status Release();
  // Its exit code, 128 + the signal that ended it, or nothing while it runs. Its times can be read
  // until it is waited for.
  std::optional<int> Ended();
  void Signal(int signal) const;
  void Wait();

 private:
  ChildProcess() = default;
  void CloseAll();

  std::string name_;
  pid_t pid_ = -1;
  int go_ = -1;      // closed without a byte: do not run
  int failed_ = -1;  // the error of exec
  std::optional<int> exit_code_;
};

}  // namespace beryl::flows
