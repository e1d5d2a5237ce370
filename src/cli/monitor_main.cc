#include "cli/services.h"

int main(int argc, char** argv) {
  using namespace beryl;
  server::MonitorRequest request;
  return cli::RunService(
      argc, argv, cli::kMonitorText, "beryl-monitor",
      [&](cli::Command& command) { cli::AddMonitorOptions(command, request); },
      [&]() -> Status { return server::RunMonitor(TRY(server::MonitorOptionsOf(request))); });
}
