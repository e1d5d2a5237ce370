// A model as the user requests it: which one, its input, and how it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/account_run.h"
#include "flows/give_model.h"
#include "models/models.h"
#include "types/energy_model.h"

namespace beryl::flows {

struct ModelRequest {
  std::string model;  // a name of the catalog, a config.json or its folder, "-"
  std::optional<models::ModelConfig> config;  // instead of `model`: the configuration itself
  bool only_names = false;  // `model` and profiles are names: the client may not read files here
  bool only_whole = false;  // its tree is shown in full only; a table shows it folded
  std::string profile;      // the profile that predicts it; empty: none
  std::optional<double> batch;
  std::optional<double> seq;
  std::optional<int64_t> prompt;
  std::optional<int64_t> generate;
  std::optional<int64_t> context;
  std::optional<int64_t> decoder_seq;
  std::optional<int64_t> image_size;
  int64_t gpus = 1;
  std::string dtype;      // empty: as seen in the run, or the configuration's
  std::string attention;  // empty: as seen in the run, as the profile was measured, or sdpa
  bool head = false;
  bool no_head = false;
  bool training = false;  // a step of it instead of a forward pass
  std::string optimizer;  // empty: adamw
  bool checkpointing = false;
  std::vector<std::string> set;    // KEY=VALUE
  std::vector<std::string> sweep;  // KEY[:KEY...]=VALUE[:VALUE...],...
};

Result<models::ModelConfig> ConfigOf(const ModelRequest& request);
// `profile`: what predicts the model; nullptr: nothing, or several. It is a misuse error if a size
// is not a whole number, or a pair has no key.
Result<models::DescribeOptions> DescribeOptionsOf(const ModelRequest& request,
                                                  const EnergyModel* profile = nullptr);
// Attention, if the user does not choose it: as the profile was measured, otherwise as in the
// library of today.
void TakeUsualAttention(const EnergyModel* profile, models::DescribeOptions& options);
// What the user specified.
ModelThatRan::Given GivenBy(const ModelRequest& request);

// Gives a run the names, levels and columns of the description. Input that the request lacks comes
// from the shapes in the run. Does nothing without a model.
Status GiveModel(const ModelRequest& request, AccountedRun& run);

}  // namespace beryl::flows
