// The command line: one file a subcommand. No number is computed here; commands call the rooms in
// order.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
}

namespace beryl::cli {

enum ExitCode { kSuccess = 0, kFailure = 1, kMisuse = 2 };

// Runs the program; returns its exit code. stdout is data only, everything said goes to stderr.
int Run(int argc, char** argv);

// Each adds its subcommand to `app`. When the subcommand is chosen, `exit_code` is set.
void AddAccountCommand(CLI::App& app, int& exit_code);
void AddImportCommand(CLI::App& app, int& exit_code);
void AddSourcesCommand(CLI::App& app, int& exit_code);
void AddRecordCommand(CLI::App& app, int& exit_code);
void AddShowCommand(CLI::App& app, int& exit_code);
void AddMonitorCommand(CLI::App& app, int& exit_code);
void AddFootprintCommands(CLI::App& app, int& exit_code);  // tef, stef, stpf
void AddEddCommand(CLI::App& app, int& exit_code);
void AddTimelineCommand(CLI::App& app, int& exit_code);
void AddExportCommand(CLI::App& app, int& exit_code);
void AddCompareCommand(CLI::App& app, int& exit_code);
void AddPrecisionCommand(CLI::App& app, int& exit_code);
void AddModelsCommand(CLI::App& app, int& exit_code);
void AddDescribeCommand(CLI::App& app, int& exit_code);
void AddTrainCommand(CLI::App& app, int& exit_code);
void AddPredictCommand(CLI::App& app, int& exit_code);
void AddEvaluateCommand(CLI::App& app, int& exit_code);
void AddAblateCommand(CLI::App& app, int& exit_code);
void AddCalibrateCommand(CLI::App& app, int& exit_code);
void AddBottlenecksCommand(CLI::App& app, int& exit_code);
void AddCostCommand(CLI::App& app, int& exit_code);
void AddTradeoffCommand(CLI::App& app, int& exit_code);
void AddDemoCommand(CLI::App& app, int& exit_code);
void AddCompletionCommand(CLI::App& app, int& exit_code);

// Prints the error to stderr and returns the exit code for it.
int Fail(const Error& error);

}  // namespace beryl::cli
