// A file of its own: the program of the monitor needs it, and nothing else of the commands.
#include "cli/arguments.h"
#include "views/views.h"

namespace beryl::cli {

void AddMeterOptions(Command& command, flows::MeterRequest& arguments) {
  command.Option("--meter SPEC", arguments.meters,
                 "External meter that prints lines: PATH[,baud=N],format=FORMAT, such as "
                 "'/dev/ttyUSB0,baud=9600,format={V} {A}'; repeatable");
  command.Option(
      "--replay FILE", arguments.replay,
      "Replay a power file as if its meters were read now, instead of those of the machine");
  command.Option("--only SOURCE,...", arguments.only,
                 "Use only these sources, such as rapl-powercap,nvml; default: all");
  command.Option("--estimate idle=W,full=W", arguments.estimate,
                 "Power of all packages, idle and with all CPUs busy, for the estimate that is "
                 "used if no meter can be read");
}

}  // namespace beryl::cli
