#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/machine_testing.h"
#include "sources/processes.h"

namespace beryl::sources {
namespace {

TEST(RootProcesses, AreThoseWithoutAVisibleParentAndNotTheKernels) {
  const TestMachine test;
  const auto add = [&](int pid, const char* name, int parent) {
    test.WriteFile("proc/" + std::to_string(pid) + "/stat",
                   std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) +
                       " 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 100 1 1 1 1 1 1 1 1 1 1 1 1 1 "
                       "1 1 1 17 0 0 0 0 0 0");
  };
  add(1, "init", 0);
  add(2, "kthreadd", 0);
  add(3, "kworker/0:0", 2);
  add(70, "shell) S 9", 1);  // a name may look like a line
  add(900, "exec'ed", 0);
  add(901, "its child", 900);
  add(950, "parent is hidden", 555);
  test.WriteFile("proc/960/other", "no stat");
  test.WriteFile("proc/self/stat", "not a number");
  EXPECT_THAT(RootProcesses(test.machine()), testing::ElementsAre(1, 900, 950));
}

}  // namespace
}  // namespace beryl::sources
