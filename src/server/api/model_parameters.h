// The parameters that say which model, with which input and on which machine, and what of its tree
// to show: the options of `beryl describe` and `predict`, under the same names.
#pragma once

#include "flows/electricity.h"
#include "flows/model_request.h"
#include "server/api/parameters.h"
#include "views/views.h"

namespace beryl::server {

// The model is named by "model", or its configuration is the body of a POST. `may_name`: also of a
// POST without a body.
flows::ModelRequest AskForModel(Parameters& parameters, const HttpRequest& request,
                                bool may_name = false);
// The input of models that are named elsewhere.
flows::ModelRequest AskForInputOfModels(Parameters& parameters);
// The model that a run ran, by name, and the profile that predicts it beside. Neither is required.
flows::ModelRequest AskForModelThatRan(Parameters& parameters);
flows::ElectricityRequest AskForElectricity(Parameters& parameters);
// The level and the depth of a tree; and its columns.
views::ViewOptions AskForCut(Parameters& parameters);
views::ViewOptions AskForTree(Parameters& parameters);
// "format", of those that the result has; JSON unless it is given.
views::Format AskForFormat(Parameters& parameters, views::Formats has);

}  // namespace beryl::server
