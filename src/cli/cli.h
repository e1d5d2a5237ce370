// The command line: one file a subcommand. No number is computed here; commands call the rooms in
// order.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "types/note.h"

namespace beryl::cli {

class Command;

enum ExitCode { kSuccess = 0, kFailure = 1, kMisuse = 2 };

// Runs the program; returns its exit code. stdout is data only, everything said goes to stderr.
int Run(int argc, char** argv);

// Each adds its subcommand to `app`. When the subcommand is chosen, `exit_code` is set.
void AddAccountCommand(Command& app, int& exit_code);
void AddImportCommand(Command& app, int& exit_code);
void AddSourcesCommand(Command& app, int& exit_code);
void AddRecordCommand(Command& app, int& exit_code);
void AddShowCommand(Command& app, int& exit_code);
void AddMonitorCommand(Command& app, int& exit_code);
void AddFootprintCommands(Command& app, int& exit_code);  // tef, stef, stpf
void AddEddCommand(Command& app, int& exit_code);
void AddTimelineCommand(Command& app, int& exit_code);
void AddExportCommand(Command& app, int& exit_code);
void AddCompareCommand(Command& app, int& exit_code);
void AddPrecisionCommand(Command& app, int& exit_code);
void AddModelsCommand(Command& app, int& exit_code);
void AddDescribeCommand(Command& app, int& exit_code);
void AddTrainCommand(Command& app, int& exit_code);
void AddPredictCommand(Command& app, int& exit_code);
void AddEvaluateCommand(Command& app, int& exit_code);
void AddAblateCommand(Command& app, int& exit_code);
void AddCalibrateCommand(Command& app, int& exit_code);
void AddBottlenecksCommand(Command& app, int& exit_code);
void AddCostCommand(Command& app, int& exit_code);
void AddTradeoffCommand(Command& app, int& exit_code);
void AddDemoCommand(Command& app, int& exit_code);
void AddCompletionCommand(Command& app, int& exit_code);

// Prints the error to stderr and returns the exit code for it.
int Fail(const Error& error);
// What a reader has to know, on stderr: a line each.
void SayNotes(const std::vector<Note>& notes);

}  // namespace beryl::cli
