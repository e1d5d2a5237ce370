#include <unistd.h>

#include "cli/arguments.h"
#include "flows/watch_power.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "top", "Watch the power of devices and processes, live",
    R"(Shows the power of every device and the processes that use it, again every --interval, until q or Ctrl-C. If
standard output is not a terminal, each look is printed below the last one; --once takes one look and ends.

OUTPUT
  power       mean since the last look; for a process, its part of the devices whose power is divided among
              processes by CPU time (docs/measurement.md)
  processes   the part of a device's power that programs use; the rest is idle, or the kernel's
  energy      since the first look
  CPU         100 % is one CPU
  -           unknown; never written as 0
  Without a readable meter power is an estimate, labelled as such; beryl sources shows why.

EXAMPLES
  beryl top
  beryl top --pid 4711
  beryl top --once --format json | jq '.processes[:3]'
  beryl top --count 60 --format json > a-minute.jsonl)"};

struct TopArguments {
  flows::WatchRequest request;
  std::optional<int> top;
  views::Format format = views::Format::kTable;
};

Result<int> RunTop(const TopArguments& arguments) {
  const auto options = TRY(flows::WatchOptionsOf(arguments.request));
  if (arguments.format == views::Format::kCsv && options.looks != 1) {
    return MisuseError("--format csv is of one look: add --once; json has a line for each look");
  }
  auto output = TRY(Output::Open(OutputArguments{.format = arguments.format}));
  views::ViewOptions view = output.view();
  view.top = arguments.top;
  const bool draws = arguments.format == views::Format::kTable && options.looks != 1;
  const auto print = [&](const PowerLook& look) {
    fmt::print("{}", views::Write(look, arguments.format, view));
    std::fflush(stdout);
  };
  TRY(flows::WatchPower(options, LookView(STDOUT_FILENO, draws, view, print)));
  return kSuccess;
}

}  // namespace

void AddTop(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunTop);
  command.Option("--pid PID", arguments.request.pids,
                 "Show this process and its children, until they end; repeatable", Above0());
  command.Option("--interval TIME", arguments.request.interval, "Time between looks, 500ms to 60s");
  command.Option("--count N", arguments.request.count, "Looks to take; default: until q or Ctrl-C",
                 Between(1, 1'000'000'000));
  command.Flag("--once", arguments.request.once, "Take one look and end");
  AddTopOption(command, arguments.top,
               "Processes to list; default: as many as fit on the screen, else 20, all in json");
  command.Choice("--format", arguments.format, views::kFormats<PowerLook>.Named(),
                 "Output format; json: a line for each look");
  AddMeterOptions(command, arguments.request.meters);
}

}  // namespace beryl::cli
