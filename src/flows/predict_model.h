// Predicts a model that was never run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/model_request.h"
#include "flows/sweep.h"
#include "learn/predict.h"
#include "models/models.h"
#include "types/described_prediction.h"
#include "types/energy_model.h"
#include "types/energy_use.h"

namespace beryl::flows {

inline constexpr const char* kDefaultProfile = "gtx1080ti-i9-7900x";

// Predicts for one machine. Const members may be called by several threads.
class ModelPredictor {
 public:
  // `must_fit`: a model that does not fit into the machine's memory is an error, which says where
  // it would fit.
  explicit ModelPredictor(EnergyModel profile, bool must_fit = false);
  ModelPredictor(const ModelPredictor&) = delete;
  ModelPredictor& operator=(const ModelPredictor&) = delete;

  const EnergyModel& profile() const { return profile_; }

  // Energy, time and costs of one model, with its tree; `only_whole`: as in ModelRequest.
  Result<DescribedPrediction> Predict(const models::ModelConfig& config,
                                      const models::DescribeOptions& options,
                                      const Electricity& electricity,
                                      bool only_whole = false) const;
  // Without its tree.
  Result<DescribedPrediction> Predict(Description description,
                                      const Electricity& electricity) const;
  // Predicts all variants (flows/sweep.h), without their trees.
  Result<Sweep> PredictVariants(const models::ModelConfig& config,
                                const models::DescribeOptions& options,
                                const std::vector<std::string>& values,
                                const Electricity& electricity) const;

 private:
  Status CheckFits(const Description& description) const;

  EnergyModel profile_;
  learn::DescriptionPredictor predictor_;
  bool must_fit_;
};

using SharedPredictor = std::shared_ptr<const ModelPredictor>;
// Finds who predicts for a profile: as ReadProfile, or what a server keeps. "" is the default one,
// on which a model must fit.
using FindPredictor = std::function<Result<SharedPredictor>(const std::string& profile)>;
Result<SharedPredictor> ReadPredictor(const std::string& profile);
// Only of a profile that comes with the program.
Result<SharedPredictor> FindPredictorByName(const std::string& profile);

// One prediction, or one for each variant and profile. `profiles`: empty for the default one.
Result<DescribedPrediction> PredictModel(const ModelRequest& request,
                                         const std::vector<std::string>& profiles,
                                         const Electricity& electricity,
                                         const FindPredictor& find = ReadPredictor);
Result<Sweep> PredictModels(const ModelRequest& request, const std::vector<std::string>& profiles,
                            const Electricity& electricity,
                            const FindPredictor& find = ReadPredictor);
// The same, one by one.
Result<VariantSeries> PredictSeries(const ModelRequest& request,
                                    const std::vector<std::string>& profiles,
                                    const Electricity& electricity,
                                    const FindPredictor& find = ReadPredictor);

}  // namespace beryl::flows
