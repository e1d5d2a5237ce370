#include "flows/demo_run.h"

#include <utility>

#include "flows/account_run.h"
#include "flows/embedded.h"

namespace beryl::flows {

Result<AccountReport> AccountDemo() {
  RunOptions options;
  options.timeline = true;
  RunInput run;
  auto power = ByteSource::FromMemory(embedded::kDemoPower, "demo_power.csv");
  TRY(AddPower(power, options, run));
  auto ops = ByteSource::FromMemory(embedded::kDemoOps, "demo_ops.json");
  TRY(importers::Import(ops, options.import, run.ops));
  run.context.ops_files = {"a BERT training run"};
  run.context.label = "synthetic";
  return MakeReport(TRY(AccountRun(std::move(run), options)), options);
}

}  // namespace beryl::flows
