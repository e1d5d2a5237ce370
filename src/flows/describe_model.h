// Describes a model as the user requests it.
#pragma once

#include "base/result.h"
#include "flows/model_request.h"
#include "types/column.h"
#include "types/described_prediction.h"
#include "types/description.h"

namespace beryl::flows {

struct DescribedModel {
  Description description;
  ShownTree tree;  // with all that is known of each node
};
Result<DescribedModel> DescribeModel(const ModelRequest& request);
// The variants of its sweep.
Result<Sweep> DescribeVariants(const ModelRequest& request);

}  // namespace beryl::flows
