// Aligns a model's description with a run of it.
#pragma once

#include <string>

#include "base/result.h"
#include "flows/account_run.h"
#include "models/models.h"

namespace beryl::flows {

// The model that ran, and what is known of it.
struct ModelThatRan {
  std::string model;                      // as for ReadConfig
  std::string profile = {};               // the profile that predicts it; empty: none
  models::DescribeOptions describe = {};  // its input, and how it ran
  // What the user specified. The rest comes from the shapes in the run.
  struct Given {
    bool batch = false;
    bool seq = false;
    bool input = false;  // the other sizes of the input
    bool attention = false;
    bool dtype = false;
  } given = {};
  bool only_names = false;  // of `model` and `profile`: no file is read
};

// Gives the run the names, levels and columns of the description.
Status GiveModel(const ModelThatRan& asked, AccountedRun& run);

}  // namespace beryl::flows
