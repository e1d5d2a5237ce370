// What the commands that analyse one run share: from arguments to a run, and from a result to its
// place.
#pragma once

#include <functional>
#include <string>

#include "cli/model_of_run.h"
#include "cli/pipeline.h"
#include "cli/run_arguments.h"
#include "views/views.h"

namespace beryl::cli {

// The result as bytes; `view` has width, colour and nothing else set.
using MakeResult = std::function<Result<std::string>(
    const AccountedRun& run, const AccountReport& report, views::ViewOptions view)>;

// Reads and accounts the run, makes the result of it and writes that. Returns the exit code.
int RunAnalysis(const RunArguments& arguments, const OutputArguments& output,
                const MakeResult& make, bool timeline = false, const RunModelArguments& model = {});

views::Format FormatOf(const std::string& name);

// --phase: which of them; nothing: all.
void AddPhaseOption(Command& command, std::string& phase);
std::optional<Phase> PhaseOf(const std::string& name);

}  // namespace beryl::cli
