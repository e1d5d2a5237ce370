// The run that comes with the program.
#pragma once

#include "base/result.h"
#include "types/account_report.h"

namespace beryl::flows {

// Accounts it, with its timeline.
Result<AccountReport> AccountDemo();

}  // namespace beryl::flows
