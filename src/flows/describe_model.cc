#include "flows/describe_model.h"

#include <utility>

#include "flows/sweep.h"
#include "tree/tree.h"

namespace beryl::flows {

Result<DescribedModel> DescribeModel(const ModelRequest& request) {
  const auto config = TRY(ConfigOf(request));
  const auto options = TRY(DescribeOptionsOf(request));
  auto description = TRY(models::Describe(config, options));
  description.provenance = MakeProvenance({config.name});
  const auto show = request.only_whole ? tree::ShowWhole : tree::Show;
  ShownTree tree = show(tree::DescribedColumns(description, tree::Detail::kAll));
  return DescribedModel{std::move(description), std::move(tree)};
}

Result<Sweep> DescribeVariants(const ModelRequest& request) {
  const auto config = TRY(ConfigOf(request));
  const auto options = TRY(DescribeOptionsOf(request));
  VariantMaker describe;
  describe.make = [](Description description) -> Result<DescribedPrediction> {
    DescribedPrediction only_described;
    only_described.description = std::move(description);
    return only_described;
  };
  return SweepVariants(config, options, request.sweep, {describe});
}

}  // namespace beryl::flows
