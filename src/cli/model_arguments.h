// The arguments of every command that describes a model: which one, what goes into it, and how it
// runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/models.h"
#include "types/described_prediction.h"

namespace beryl::cli {

class Command;
class Option;

struct ModelArguments {
  std::string model;  // a name of the catalog, a config.json or its folder, "-"
  std::optional<double> batch;
  std::optional<double> seq;
  int64_t prompt = 0;
  int64_t generate = 0;
  int64_t context = 0;
  int64_t decoder_seq = 0;
  int64_t image_size = 0;
  int64_t gpus = 1;
  std::string dtype = "float32";
  std::string attention;  // empty: eager, or as a run was seen to do it
  bool head = false;
  std::vector<std::string> set;    // KEY=VALUE
  std::vector<std::string> sweep;  // KEY[:KEY...]=VALUE[:VALUE...],...
};

// NAME and everything in ModelArguments but --batch and --seq. Returns the options that were
// added.
std::vector<Option*> AddModelOptions(Command& command, ModelArguments& arguments);
// What goes in, and how it runs: --prompt to --set, without --batch and --seq.
std::vector<Option*> AddDescribeOptions(Command& command, ModelArguments& arguments);

// The configuration that the arguments name: a file or folder that is there, standard input, else
// an entry of the catalog.
Result<models::ModelConfig> ReadConfig(const std::string& model);

Result<models::DescribeOptions> DescribeOptionsOf(const ModelArguments& arguments);

// What comes of one variant.
using MakeVariant = std::function<Result<DescribedPrediction>(Description)>;
// Every combination of the values of --sweep. A variant that contradicts itself has the reason in
// its row; fails where there is nothing else, and where an argument cannot be understood.
Result<Sweep> SweepVariants(const ModelArguments& arguments, const models::ModelConfig& config,
                            const MakeVariant& make);

}  // namespace beryl::cli
