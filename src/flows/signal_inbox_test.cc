#include "flows/signal_inbox.h"

#include <unistd.h>

#include <csignal>

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(SignalInbox, ASignalIsAMessage) {
  const auto inbox = SignalInbox::Open();
  ASSERT_TRUE(inbox);
  while (inbox->Wait(Nanos{})) {  // children of earlier tests
  }
  EXPECT_FALSE(inbox->Wait(Nanos{1'000'000})) << "none came";
  ::kill(::getpid(), SIGTERM);
  const auto signal = inbox->Wait(Nanos{1'000'000'000});
  ASSERT_TRUE(signal);
  EXPECT_EQ(signal->ssi_signo, static_cast<uint32_t>(SIGTERM));
  EXPECT_FALSE(inbox->Wait(Nanos{1'000'000})) << "each comes once";
}

}  // namespace
}  // namespace beryl::flows
