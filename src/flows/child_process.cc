#include "flows/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace beryl::flows {
namespace {

rlimit given_limit{};
bool limit_raised = false;

// The child's side. Calls only functions that are safe between fork and exec in a program with
// threads.
[[noreturn]] void RunChild(int go, int failed, char* const* arguments) {
  // Until it is released, the process list shows the command's name, not ours.
  const char* slash = std::strrchr(arguments[0], '/');
  prctl(PR_SET_NAME, slash != nullptr ? slash + 1 : arguments[0]);
  char byte = 0;
  if (read(go, &byte, 1) != 1) _exit(0);
  std::signal(SIGPIPE, SIG_DFL);
  if (limit_raised) setrlimit(RLIMIT_NOFILE, &given_limit);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(failed, &error, sizeof(error));
  _exit(127);
}

int CodeOf(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

void Close(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

void RaiseFileLimit() {
  if (limit_raised || getrlimit(RLIMIT_NOFILE, &given_limit) != 0) return;
  rlimit all = given_limit;
  all.rlim_cur = all.rlim_max;
  limit_raised = setrlimit(RLIMIT_NOFILE, &all) == 0;
}

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1UL); }

Result<ChildProcess> ChildProcess::Prepare(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int go[2];
  int failed[2];
  if (pipe2(go, O_CLOEXEC) != 0) return IoError(fmt::format("pipe: {}", std::strerror(errno)));
  if (pipe2(failed, O_CLOEXEC) != 0) {
    close(go[0]);
    close(go[1]);
    return IoError(fmt::format("pipe: {}", std::strerror(errno)));
  }
  ChildProcess child;
  child.name_ = command.front();
  child.pid_ = fork();
  if (child.pid_ == 0) {
    close(go[1]);
    close(failed[0]);
    RunChild(go[0], failed[1], arguments.data());
  }
  close(go[0]);
  close(failed[1]);
  child.go_ = go[1];
  child.failed_ = failed[0];
  if (child.pid_ < 0) return IoError(fmt::format("fork: {}", std::strerror(errno)));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, -1)),
      go_(std::exchange(other.go_, -1)),
      failed_(std::exchange(other.failed_, -1)),
      exit_code_(other.exit_code_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(pid_, other.pid_);
  std::swap(go_, other.go_);
  std::swap(failed_, other.failed_);
  std::swap(exit_code_, other.exit_code_);
  return *this;
}

ChildProcess::~ChildProcess() {
  const bool held_back = go_ >= 0;
  CloseAll();
  if (pid_ > 0 && (held_back || exit_code_)) Wait();
}

void ChildProcess::CloseAll() {
  Close(go_);
  Close(failed_);
}

Status ChildProcess::Release() {
  const char byte = 1;
  const bool released = write(go_, &byte, 1) == 1;
  Close(go_);
  int error = released ? 0 : ECHILD;
  // Ends without a byte as soon as exec has succeeded.
  if (released && read(failed_, &error, sizeof(error)) != sizeof(error)) error = 0;
  Close(failed_);
  if (error == 0) return {};
  Wait();
  return IoError(fmt::format("cannot run '{}': {}{}", name_, std::strerror(error),
                             error == ENOENT ? "; is it on the PATH?" : ""));
}

std::optional<int> ChildProcess::Ended() {
  if (exit_code_ || pid_ <= 0) return exit_code_;
  siginfo_t info{};
  const int waited = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (waited == 0 && info.si_pid == pid_) exit_code_ = CodeOf(info);
  if (waited != 0 && errno == ECHILD) exit_code_ = -1;  // something else has waited for it
  return exit_code_;
}

void ChildProcess::Signal(int signal) const {
  if (pid_ > 0 && !exit_code_) kill(pid_, signal);
}

void ChildProcess::Wait() {
  if (pid_ <= 0) return;
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  if (info.si_pid == pid_) exit_code_ = CodeOf(info);
  pid_ = -1;
}

}  // namespace beryl::flows
