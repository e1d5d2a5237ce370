#include "flows/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

class ChildProcessTest : public testing::Test, protected FolderForTest {
 protected:
  bool WasRun() const { return std::filesystem::exists(folder_ / "mark"); }
  std::vector<std::string> Mark(const std::string& then = "") const {
    return {"sh", "-c", "touch '" + (folder_ / "mark").string() + "'" + then};
  }
};

TEST_F(ChildProcessTest, RunsOnceItIsReleased) {
  auto child = ChildProcess::Prepare(Mark("; exit 3"));
  ASSERT_TRUE(child);
  ::usleep(20'000);
  EXPECT_FALSE(WasRun());
  EXPECT_FALSE(child->Ended());
  ASSERT_TRUE(child->Release());
  child->Wait();
  EXPECT_TRUE(WasRun());
  EXPECT_EQ(child->Ended(), 3);
}

TEST_F(ChildProcessTest, IsNeverRunIfItIsNotReleased) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::Prepare(Mark());
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  EXPECT_FALSE(WasRun());
  EXPECT_EQ(::kill(pid, 0), -1) << "it is waited for";
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(ChildProcessTest, ACommandThatIsNotThereIsNamed) {
  auto child = ChildProcess::Prepare({"no-such-program-anywhere"});
  ASSERT_TRUE(child);
  const Status released = child->Release();
  ASSERT_FALSE(released);
  EXPECT_THAT(released.error().message, HasSubstr("cannot run 'no-such-program-anywhere'"));
  EXPECT_THAT(released.error().message, HasSubstr("PATH"));
}

TEST_F(ChildProcessTest, ASignalThatEndsItIsInItsCode) {
  auto child = ChildProcess::Prepare({"sleep", "60"});
  ASSERT_TRUE(child && child->Release());
  child->Signal(SIGTERM);
  child->Wait();
  EXPECT_EQ(child->Ended(), 128 + SIGTERM);
}

TEST_F(ChildProcessTest, DoesNotInheritBlockedSignals) {
  sigset_t usr1;
  sigset_t before;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &usr1, &before);
  auto child = ChildProcess::Prepare({"sleep", "60"});
  ASSERT_TRUE(child && child->Release());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  child->Signal(SIGUSR1);
  child->Wait();
  EXPECT_EQ(child->Ended(), 128 + SIGUSR1);
}

TEST_F(ChildProcessTest, CanBeMoved) {
  auto prepared = ChildProcess::Prepare({"true"});
  ASSERT_TRUE(prepared);
  ChildProcess child = *std::move(prepared);
  ASSERT_TRUE(child.Release());
  child.Wait();
  EXPECT_EQ(child.Ended(), 0);
}

}  // namespace
}  // namespace beryl::flows
