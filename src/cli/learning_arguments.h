// How to learn: the options that train, evaluate and ablate share.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/run_arguments.h"
#include "learn/learn.h"

namespace beryl::cli {

class Command;

struct LearningArguments {
  std::string method = "law";
  std::string features = "all";
  uint64_t seed = 0;
  double pue = 1.58;
  int threads = 0;
};

// --method, --features, --seed, --pue, --threads.
void AddMethodOptions(Command& command, LearningArguments& arguments);
// --seed, --pue, --threads.
void AddTrainingOptions(Command& command, LearningArguments& arguments);
learn::TrainOptions TrainOptionsOf(const LearningArguments& arguments);

// Writes a result. Its notes go to stderr where what was written has no place for them, or lies
// in a file. Returns the exit code.
int FinishCommand(OutputFile& file, const std::string& bytes, const OutputArguments& output,
                  const std::vector<Note>& notes);

}  // namespace beryl::cli
