// Services are programs of their own, beside this one, because their libraries would slow down the
// start of every command. The command `beryl monitor` becomes beryl-monitor with the same options,
// and so on.
#pragma once

#include <functional>

#include "base/result.h"
#include "cli/command_line.h"
#include "server/serve.h"
#include "server/server.h"

namespace beryl::cli {

extern const CommandText kMonitorText;
void AddMonitorOptions(Command& command, server::MonitorRequest& arguments);
extern const CommandText kServeText;
void AddServeOptions(Command& command, server::ServeRequest& arguments);

// Becomes `program`, with the options that were typed. Returns only if it cannot.
Result<int> BecomeProgram(const Command& command, const CommandText& text, const char* program);

// The main function of a service: declares its options with `add`, reads them, and then calls
// `run`. Returns the exit code.
int RunService(int argc, char** argv, const CommandText& text, const char* program,
               const std::function<void(Command&)>& add, const std::function<Status()>& run);

// The output of --version in all programs: "beryl 0.1.0 (Release, 1a2b3c4, monitor, server)". It
// names the services that are installed.
std::string VersionText();

}  // namespace beryl::cli
